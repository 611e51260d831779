/* Ends by an instruction that exists on no RISC-V processor. */
#include <stdio.h>

int main(void)
{
	puts("before");
	__asm__ volatile("unimp");
	return 0;
}
