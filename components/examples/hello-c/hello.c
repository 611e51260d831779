/* A hosted C program: arguments, formatted output, an exit status. */
#include <math.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	printf("hello from %s\n", argv[0]);
	for (int i = 1; i < argc; i++)
		printf("argument %d: %s\n", i, argv[i]);
	printf("the square root of 2 is %.6f\n", sqrt(2.0));
	return argc - 1;
}
