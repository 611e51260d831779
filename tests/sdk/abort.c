/* abort() sends what was printed and ends with 128 + SIGABRT. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	printf("last words");
	abort();
}
