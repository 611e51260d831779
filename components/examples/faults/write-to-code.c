/* Ends by a store to the program's own code, which is mapped without the right to write. */
#include <stdint.h>
#include <stdio.h>

int main(void)
{
	volatile uint32_t *code = (volatile uint32_t *)(uintptr_t)main;
	puts("before");
	*code = 0;
	return 0;
}
