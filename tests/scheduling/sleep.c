/* Sleeping: never early, and with one instruction a nanosecond late by no more than the way from the timer interrupt
   back to the sleeper. */
#include "../support/check.h"

#define ROUNDS 200
/* Instructions from the time slept for to the return of hrsleep, the two calls of hrtime included. */
#define MOST_LATE 4000

int main(void)
{
	long latest = 0, early = 0;
	unsigned seed = 1;
	for (int i = 0; i < ROUNDS; i++) {
		seed = seed * 1103515245 + 12345;
		/* Up to 2 ms ahead, in units of two cycles. */
		unsigned long long until = hrtime() + 500 + (seed >> 8) % 1000000;
		SAME(hrsleep(until), 0);
		long late = 2 * (long)(hrtime() - until);
		early += late < 0;
		latest = late > latest ? late : latest;
	}
	SAME(early, 0);
	if (latest > MOST_LATE)
		printf("late by %ld instructions\n", latest);
	CHECK(latest <= MOST_LATE);
	/* A time that has passed is no sleep. */
	unsigned long long before = hrtime();
	SAME(hrsleep(before), 0);
	SAME(hrsleep(0), 0);
	CHECK(2 * (hrtime() - before) < MOST_LATE);

	unsigned long long then = time_of_day();
	SAME(sleep_nanoseconds(5000000), 0);
	CHECK(time_of_day() - then >= 5000000);
	CHECK(time_of_day() - then < 5100000);
	then = time_of_day();
	SAME(usleep(3000), 0);
	CHECK(time_of_day() - then >= 3000000);
	fprintf(stderr, "latest %ld instructions\n", latest);
	return checked(ROUNDS + 10);
}
