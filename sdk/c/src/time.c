/* Time: the cycle counter, time of day, and sleeping for a duration. */
#include <sys/time.h>
#include <time.h>

#include "internal.h"

#define SECOND 1000000000ULL
#define STEP (SECOND / 10) /* longest single sleep, so that a wrong guess of the clock rate costs no more */

/* The cycle counter's rate is not known: each step sleeps for what the rate of the steps before suggests, starting
   from 1 GHz, and the time of day decides when it is enough. */
int sleep_nanoseconds(unsigned long long duration)
{
	unsigned long long begin = time_of_day(), begin_units = hrtime();
	unsigned long long units = 1, nanoseconds = 2;
	for (;;) {
		unsigned long long passed = time_of_day() - begin;
		if (passed >= duration)
			return 0;
		unsigned long long now = hrtime();
		if (passed >= 1000 && now > begin_units) {
			units = now - begin_units;
			nanoseconds = passed;
		}
		unsigned long long left = duration - passed < STEP ? duration - passed : STEP;
		int result = hrsleep(now + (unsigned long long)((unsigned __int128)left * units / nanoseconds) + 1);
		if (result < 0)
			return result;
	}
}

unsigned sleep(unsigned seconds)
{
	return sleep_nanoseconds(seconds * SECOND) < 0 ? seconds : 0;
}

int usleep(useconds_t microseconds)
{
	int result = sleep_nanoseconds(microseconds * 1000ULL);
	if (result < 0)
		errno = -result;
	return result < 0 ? -1 : 0;
}

int gettimeofday(struct timeval *value, void *zone)
{
	(void)zone;
	unsigned long long now = time_of_day();
	value->tv_sec = now / SECOND;
	value->tv_usec = now % SECOND / 1000;
	return 0;
}

/* Elapsed time since the first call: the system keeps no account of processor time per domain. */
clock_t clock(void)
{
	static unsigned long long begin;
	unsigned long long now = time_of_day();
	if (!begin)
		begin = now;
	return (now - begin) / (SECOND / CLOCKS_PER_SEC);
}
