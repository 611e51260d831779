/* Reads its input later than it comes: nothing may be lost. Prints how much there was and a checksum. */
#include <pebble.h>

int main(void)
{
	unsigned long sum = 0, count = 0;
	int byte;
	usleep(300000);
	while ((byte = getchar()) != EOF) {
		sum = sum * 31 + byte;
		if (++count % 1000 == 0)
			usleep(1000);
	}
	printf("%lu bytes, %lx\n", count, sum);
	return 0;
}
