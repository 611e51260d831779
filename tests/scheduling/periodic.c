/* A component with a budget meets its deadlines while a hog of the same kind, and one without a budget but with a
   higher priority, never wait. Work: about half of the budget, once in each period. */
#include "../support/check.h"

#define PERIOD 5000000ULL /* nanoseconds; 5000 us in with/periodic.toml */
#define WORK 900000ULL	  /* of 2000 us */
#define ROUNDS 60

int main(void)
{
	volatile unsigned long sum = 0;
	int missed = 0;
	unsigned long long next = time_of_day() + PERIOD, worst = 0;
	for (int i = 0; i < ROUNDS; i++) {
		sleep_nanoseconds(next - time_of_day());
		unsigned long long cycles = hrtime();
		/* Processor time cannot be read: count instructions of a loop instead. */
		for (unsigned long n = 0; n < WORK / 4; n++)
			sum += n;
		(void)cycles;
		unsigned long long took = time_of_day() - next;
		worst = took > worst ? took : worst;
		missed += took > PERIOD;
		next += PERIOD;
	}
	fprintf(stderr, "worst answer %llu us\n", worst / 1000);
	SAME(missed, 0);
	return checked(1);
}
