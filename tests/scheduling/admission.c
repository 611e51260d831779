/* A thread is made only if what its component's description promises it can be kept: each thread gets the budget,
   so the third one of 40 % is refused, and there is room again when one has ended. */
#include "../support/check.h"

static int go;

static void wait(void *argument)
{
	(void)argument;
	sem_wait(go);
}

int main(void)
{
	go = sem_create(0);
	CHECK(thread_create(wait, NULL) > 0);
	SAME(thread_create(wait, NULL), -EBUSY);
	SAME(fork(), -EBUSY);
	sem_post(go);
	int result = -EBUSY;
	for (int i = 0; i < 50 && result == -EBUSY; i++) {
		sleep_nanoseconds(20000000);
		result = thread_create(wait, NULL);
	}
	CHECK(result > 0);
	SAME(thread_create(wait, NULL), -EBUSY);
	return checked(5);
}
