/* Ends on the guard page below the stack. */
#include <stdio.h>

static volatile int end = -1; /* never reached: each level counts upwards */

static int deeper(volatile int *above)
{
	volatile int here[64] = { *above + 1 };
	if (here[0] == end)
		return 0;
	return deeper(here) + here[0];
}

int main(void)
{
	volatile int start = 0;
	puts("before");
	return deeper(&start);
}
