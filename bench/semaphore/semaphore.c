/* Row 4: a token round a ring of 1, 2, 4, 8 threads in as many domains, passed by semaphores. One sample: once round.
   With one thread nobody ever waits: that is the pair of P and V by itself. */
#include "../support/ring.h"

static int token[RING_MOST]; /* token[i]: thread i may go on */

static void member(void)
{
	int left = token[ring_place], right = token[(ring_place + 1) % ring_size];
	for (;;) {
		sem_wait(left);
		sem_post(right);
	}
}

int main(int argc, char **argv)
{
	measure_start(argc, argv);
	for (int i = 0; i < RING_MOST; i++)
		token[i] = measure_good("sem_create", sem_create(0));
	for (int size = 1; size <= RING_MOST; size *= 2) {
		char name[32];
		sprintf(name, "ring/%d", size);
		ring_make(size, member);
		int left = token[0], right = token[1 % size];
		MEASURE(name, size, sem_post(right); sem_wait(left));
		ring_end();
	}
	MEASURE("post", 1, sem_post(token[0]));
	MEASURE("wait", 1, sem_wait(token[0]));
	return 0;
}
