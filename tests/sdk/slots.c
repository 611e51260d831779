/* With as many threads as a component may have (or as there are stack slots) there is an error, and room again when the threads have ended, all at once. */
#include <pebble.h>

#include "check.h"

static int gate, done;

static void wait_and_end(void *argument)
{
	(void)argument;
	sem_wait(gate);
	sem_post(done);
}

int main(void)
{
	gate = sem_create(0);
	done = sem_create(0);
	int most = 0;
	for (int round = 0; round < 3; round++) {
		int made = 0, thread;
		while ((thread = thread_create(wait_and_end, NULL)) > 0)
			made++;
		CHECK(thread == -EAGAIN && made >= 8 && made < (int)PEBBLE_STACK_SLOTS);
		CHECK(round == 0 || made == most);
		most = made;
		for (int i = 0; i < made; i++)
			sem_post(gate);
		for (int i = 0; i < made; i++)
			sem_wait(done);
		/* A slot is free when its thread has left it, a moment after its last word. */
		sleep_nanoseconds(50000000);
	}
	puts("as many threads each time");
	return 0;
}
