/* Fixed priorities: equal threads share the processor by turns, a lower one gets none of it, and a thread that
   never waits cannot keep a sleeper of higher priority from running in time. */
#include "../support/check.h"

#define THREADS 3
static volatile unsigned long work[THREADS + 1];
static volatile int stop;
static int begin, ended;

static void spin(void *argument)
{
	long number = (long)argument;
	if (number == THREADS)
		thread_priority(5); /* below the others */
	else
		thread_priority(10);
	sem_wait(begin);
	while (!stop)
		work[number]++;
	sem_post(ended);
}

int main(void)
{
	begin = sem_create(0);
	ended = sem_create(0);
	for (long number = 0; number <= THREADS; number++)
		CHECK(thread_create(spin, (void *)number) > 0);
	/* They run until they wait: this thread (priority 20) sleeps meanwhile. */
	sleep_nanoseconds(10000000);
	for (int i = 0; i <= THREADS; i++)
		sem_post(begin);
	/* Ten turns of 10 ms for each. */
	unsigned long long before = time_of_day();
	sleep_nanoseconds(THREADS * 10 * 10000000ULL);
	unsigned long long slept = time_of_day() - before;
	unsigned long low = work[THREADS], least = -1ul, most = 0;
	stop = 1;
	for (int i = 0; i < THREADS; i++) {
		least = work[i] < least ? work[i] : least;
		most = work[i] > most ? work[i] : most;
	}
	CHECK(least > 0);
	SAME(low, 0);
	/* Equal shares, but for one turn in ten that may be cut at the end. */
	CHECK(most - least <= most / 8);
	/* The sleeper was not late by as much as a tenth of a turn, although three threads never waited. */
	CHECK(slept >= 300000000 && slept < 301000000);
	for (int i = 0; i <= THREADS; i++)
		sem_wait(ended);
	CHECK(work[THREADS] == 0);
	return checked(4 + 5);
}
