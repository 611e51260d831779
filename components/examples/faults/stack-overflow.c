/* Ends on the guard page below the stack. */
#include <stdio.h>

static volatile int end = -1; /* never reached: each level counts upwards */

static int deeper(int level)
{
	volatile int here[64];
	here[0] = level;
	if (here[0] == end)
		return 0;
	return deeper(level + 1) + here[0];
}

int main(void)
{
	puts("before");
	return deeper(0);
}
