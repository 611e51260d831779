/* Interrupts of two kinds at once: console input keeps arriving while a timer wakes a thread every 100 us and a third
   thread never waits. Each gets its due: no byte lost, no wake-up missed or early, and the device's thread (priority 52)
   is never kept waiting by ours. */
#include "../support/check.h"

#define TICKS 400
#define EACH 50000ull /* of hrtime: 100 us at the rate of virtual time */

static int done;
static volatile int stop;
static long early, ticks;
static volatile unsigned long spins;

static void tick(void *argument)
{
	(void)argument;
	unsigned long long next = hrtime();
	for (ticks = 0; ticks < TICKS; ticks++) {
		next += EACH;
		hrsleep(next);
		early += hrtime() < next;
	}
	sem_post(done);
}

static void spin(void *argument)
{
	(void)argument;
	thread_priority(2);
	while (!stop)
		spins++;
	sem_post(done);
}

int main(void)
{
	done = sem_create(0);
	CHECK(thread_create(spin, NULL) > 0);
	CHECK(thread_create(tick, NULL) > 0);
	thread_priority(10);
	unsigned long sum = 0, count = 0;
	int byte;
	while ((byte = getchar()) != EOF) {
		sum = sum * 31 + byte;
		count++;
	}
	sem_wait(done);
	stop = 1;
	sem_wait(done);
	SAME(early, 0);
	SAME(ticks, TICKS);
	CHECK(spins > 0);
	printf("%lu bytes, %lx\n", count, sum);
	return checked(5);
}
