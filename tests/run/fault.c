/* Ends by a store to address 0 in a function of its own. */
#include <stdio.h>

__attribute__((noinline)) static void harm(volatile int *nowhere)
{
	*nowhere = 1;
	puts("unreachable");
}

int main(void)
{
	volatile int *volatile nowhere = NULL;
	puts("before");
	harm(nowhere);
	return 0;
}
