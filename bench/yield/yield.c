/* Row 3: yield among 1, 2, 4, 8 threads in as many domains. One sample: the program's thread has its turn again, so
   every thread has yielded once. */
#include "../support/ring.h"

static void member(void)
{
	for (;;)
		yield();
}

int main(int argc, char **argv)
{
	measure_start(argc, argv);
	for (int size = 1; size <= RING_MOST; size *= 2) {
		char name[32];
		sprintf(name, "yield/%d", size);
		ring_make(size, member);
		MEASURE(name, size, yield());
		ring_end();
	}
	return 0;
}
