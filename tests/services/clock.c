/* Time: the counter and the time of day run at the same speed and never backwards; the device says the same. */
#include <sys/time.h>
#include <time.h>

#include "../support/check.h"

int main(void)
{
	unsigned long long day = time_of_day(), counter = hrtime();
	int backwards = 0;
	for (int i = 0; i < 10000; i++) {
		unsigned long long next_day = time_of_day(), next_counter = hrtime();
		backwards += next_day < day || next_counter <= counter;
		day = next_day;
		counter = next_counter;
	}
	SAME(backwards, 0);

	struct timeval value;
	SAME(gettimeofday(&value, NULL), 0);
	CHECK(value.tv_sec - (long)(day / 1000000000) < 2 && value.tv_usec < 1000000);
	CHECK(time(NULL) - value.tv_sec < 2);
	/* To the device and back: the same time, and it goes on from there. */
	int synchronize = portal_open(CLOCK_SYNCHRONIZE);
	CHECK(synchronize > 0);
	long long device = invoke_portal_long(synchronize, 0, 0, 0, 0, 0);
	long long difference = device - (long long)time_of_day();
	CHECK(difference < 0 && difference > -50000000);
	CHECK(time_of_day() >= day);
	printf("%lld\n", (long long)time(NULL));
	return checked(7);
}
