/* Ends by an instruction fetch from an address where nothing is. */
#include <stdint.h>
#include <stdio.h>

int main(void)
{
	void (*volatile nonsense)(void) = (void (*)(void))(uintptr_t)0x0dead000;
	puts("before");
	nonsense();
	return 0;
}
