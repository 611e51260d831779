/* Sleeping is never shorter than asked for, whatever the ratio of cycle counter and timer does. */
#include "../support/check.h"

int main(void)
{
	for (int i = 0; i < 50; i++) {
		unsigned long long until = hrtime() + 1000 + i * 40000;
		hrsleep(until);
		CHECK(hrtime() >= until);
	}
	unsigned long long before = time_of_day();
	sleep(1);
	CHECK(time_of_day() - before >= 1000000000);
	return checked(51);
}
