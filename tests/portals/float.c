/* Floating point costs those who do not use it nothing: two threads take turns, first when nobody has used it, then
   when a third thread has, then as users themselves. Virtual time: a cycle is an instruction. */
#include "../support/check.h"

enum { TURNS = 200, TIMES = 3, PLAIN, FLOATING };

static volatile int mode = PLAIN, stop;
static volatile double partner_sum, own_sum;
static int ready, used;

/* One use of the registers for each turn. */
static void use(volatile double *sum)
{
	double value = *sum;
	__asm__ volatile("fadd.d %0, %0, %1" : "+f"(value) : "f"(0.5));
	*sum = value;
}

static void partner(void *argument)
{
	(void)argument;
	sem_post(ready);
	while (!stop) {
		if (mode == FLOATING)
			use(&partner_sum);
		yield();
	}
	sem_post(ready);
}

static void user(void *argument)
{
	static volatile double sum;
	(void)argument;
	for (int i = 0; i < 10; i++)
		use(&sum);
	sem_post(used);
	sem_wait(sem_create(0));
}

/* Cycles, halved, for TURNS turns of both. */
static unsigned long turns(void)
{
	for (int i = 0; i < 10; i++)
		yield();
	unsigned long long start = hrtime();
	for (int i = 0; i < TURNS; i++) {
		if (mode == FLOATING)
			use(&own_sum);
		yield();
	}
	return hrtime() - start;
}

/* The shortest of some times: an interrupt does not fall into each of them. */
static unsigned long shortest(void)
{
	unsigned long least = turns();
	for (int i = 1; i < TIMES; i++) {
		unsigned long time = turns();
		least = time < least ? time : least;
	}
	return least;
}

int main(void)
{
	ready = sem_create(0);
	used = sem_create(0);
	thread_create(partner, NULL);
	sem_wait(ready);
	unsigned long nobody = shortest();
	thread_create(user, NULL);
	sem_wait(used);
	unsigned long others = shortest();
	mode = FLOATING;
	unsigned long both = shortest();
	stop = 1;
	sem_wait(ready);
	fprintf(stderr, "cycles in a turn of both: %lu, %lu with a user elsewhere, %lu as users\n", 2 * nobody / TURNS,
		2 * others / TURNS, 2 * both / TURNS);
	/* Less than an instruction a turn. */
	CHECK(labs((long)(others - nobody)) < TURNS / 2);
	/* As users they pay, so the measurement would have seen it: 33 words out and in again. */
	CHECK(both > nobody + 50 * TURNS);
	CHECK(own_sum == TIMES * TURNS * 0.5 && partner_sum >= TIMES * TURNS * 0.5);
	return checked(3);
}
