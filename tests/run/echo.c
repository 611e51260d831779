/* Copies its input to its output until the end, and counts; the status is the number of bytes. */
#include <stdio.h>

int main(void)
{
	int byte, count = 0;
	while ((byte = getchar()) != EOF) {
		putchar(byte);
		count++;
	}
	fprintf(stderr, "%d bytes\n", count);
	return count;
}
