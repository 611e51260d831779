/* What runs next: sem_post to a higher priority switches at once, to an equal or lower one does not; yield goes
   to the next equal in order; a semaphore serves its waiters first come, first served. */
#include <string.h>

#include "../support/check.h"

static char trace[128];
static int length;
static int semaphore, ended;

static void mark(char letter)
{
	trace[length++] = letter;
}

static int traced(const char *expected)
{
	int same = strcmp(trace, expected) == 0;
	if (!same)
		printf("order %s, expected %s\n", trace, expected);
	memset(trace, 0, sizeof trace);
	length = 0;
	return same;
}

struct part {
	int priority;
	char letter;
};

static void waiter(void *argument)
{
	struct part *part = argument;
	thread_priority(part->priority);
	sem_wait(semaphore);
	mark(part->letter);
	sem_post(ended);
}

static void start(void (*function)(void *), struct part *part)
{
	CHECK(thread_create(function, part) > 0);
	/* Let it get to where it waits. */
	int own = part->priority;
	thread_priority(own > 1 ? own - 1 : 1);
	thread_priority(15);
}

static void turns(void *argument)
{
	struct part *part = argument;
	thread_priority(part->priority);
	for (int i = 0; i < 3; i++) {
		mark(part->letter);
		yield();
	}
	sem_post(ended);
}

int main(void)
{
	semaphore = sem_create(0);
	ended = sem_create(0);
	SAME(thread_priority(15), 0);

	struct part high = { 18, 'h' }, equal = { 15, 'e' }, low = { 10, 'l' };
	start(waiter, &high);
	mark('1');
	sem_post(semaphore);
	mark('2');
	CHECK(traced("1h2"));
	sem_wait(ended);

	start(waiter, &equal);
	mark('1');
	sem_post(semaphore);
	mark('2');
	yield();
	mark('3');
	CHECK(traced("12e3"));
	sem_wait(ended);

	start(waiter, &low);
	mark('1');
	sem_post(semaphore);
	mark('2');
	yield();
	mark('3');
	sem_wait(ended);
	mark('4');
	CHECK(traced("123l4"));

	/* The order of waiting decides, not the priority of the waiters. */
	struct part first = { 11, 'a' }, second = { 13, 'b' }, third = { 12, 'c' };
	start(waiter, &first);
	start(waiter, &second);
	start(waiter, &third);
	for (int i = 0; i < 3; i++) {
		sem_post(semaphore);
		sem_wait(ended);
	}
	CHECK(traced("abc"));

	/* Three equals take turns in the order in which they became ready. */
	struct part x = { 10, 'x' }, y = { 10, 'y' }, z = { 10, 'z' };
	CHECK(thread_create(turns, &x) > 0);
	CHECK(thread_create(turns, &y) > 0);
	CHECK(thread_create(turns, &z) > 0);
	for (int i = 0; i < 3; i++)
		sem_wait(ended);
	CHECK(traced("xyzxyzxyz"));
	return checked(1 + 2 + 2 + 2 + 4 + 4);
}
