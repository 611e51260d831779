/* What the scheduler refuses, and what waiting threads get when their semaphore ends. */
#include <limits.h>

#include "../support/check.h"

static int semaphore, ended;
static int answers[3];

static void wait(void *argument)
{
	answers[(long)argument] = sem_wait(semaphore);
	sem_post(ended);
}

int main(void)
{
	/* A component may lower its threads' priority, and raise it again up to the limit of its description. */
	SAME(thread_priority(20), 0);
	SAME(thread_priority(21), -EPERM);
	SAME(thread_priority(63), -EPERM);
	SAME(thread_priority(0), -EINVAL);
	SAME(thread_priority(64), -EINVAL);
	SAME(thread_priority(-1), -EINVAL);
	SAME(thread_priority(1), 0);
	SAME(thread_priority(20), 0);

	SAME(sem_create(-1), -EINVAL);
	SAME(sem_create(INT_MIN), -EINVAL);
	ended = sem_create(0);
	semaphore = sem_create(0);
	CHECK(ended > 0 && semaphore > 0 && ended != semaphore);
	for (long i = 0; i < 3; i++)
		CHECK(thread_create(wait, (void *)i) > 0);
	sleep_nanoseconds(1000000);
	SAME(sem_destroy(semaphore), 0);
	for (int i = 0; i < 3; i++)
		SAME(sem_wait(ended), 0);
	for (int i = 0; i < 3; i++)
		SAME(answers[i], -EINVAL);
	/* Its portals are gone. */
	SAME(sem_wait(semaphore), -ENOSYS);
	SAME(sem_post(semaphore), -ENOSYS);
	SAME(sem_destroy(semaphore), -EINVAL);
	SAME(sem_destroy(ended + 1), -EINVAL);
	SAME(sem_destroy(SYS_YIELD), -EINVAL);
	SAME(sem_destroy(-1), -EINVAL);
	SAME(sem_destroy(100000), -EINVAL);

	/* A value lets as many through as it says. */
	int three = sem_create(3);
	for (int i = 0; i < 3; i++)
		SAME(sem_wait(three), 0);
	SAME(sem_post(three), 0);
	SAME(sem_wait(three), 0);
	SAME(sem_destroy(three), 0);

	/* The counter stops at its greatest value. */
	int full = sem_create(INT_MAX);
	SAME(sem_wait(full), 0);
	SAME(sem_post(full), 0);
	return checked(11 + 3 + 1 + 6 + 7 + 6 + 2);
}
