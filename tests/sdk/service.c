/* A program offers a service and opens it itself: constants, words, windows both ways, several callers inside. */
#include <pebble.h>
#include <string.h>

#include "check.h"

static int gate;

static long add(long constant, long a, long b)
{
	return constant + a + b;
}

static long copy(long constant, const char *from, char *to, long bytes)
{
	for (long i = 0; i < bytes; i++)
		to[i] = from[i] + constant;
	return bytes;
}

static long wait_here(void)
{
	errno = 5; /* this stack's own */
	return sem_wait(gate);
}

static int inside, result_of[4], done;

static void caller(void *index)
{
	int portal = portal_open("/program/wait");
	__atomic_fetch_add(&inside, 1, __ATOMIC_RELAXED);
	result_of[(long)index] = invoke_portal(portal, 0, 0, 0, 0, 0);
	sem_post(done);
}

int main(void)
{
	CHECK(portal_register("/program/add", "nmcii", 1000, add) == 0);
	CHECK(portal_register("/program/add", "nmcii", 1000, add) == -EEXIST);
	CHECK(portal_register("/program/add/more", "nmcii", 1000, add) == -EEXIST);
	int portal = portal_open("/program/add");
	CHECK(portal >= PEBBLE_FIRST_DYNAMIC);
	CHECK(invoke_portal(portal, 30, 4, 0, 0, 0) == 1034);
	CHECK(invoke_portal_long(portal, 1L << 40, 4, 0, 0, 0) == (1L << 40) + 1004);
	CHECK(portal_close(portal) == 0);
	CHECK(invoke_portal(portal, 30, 4, 0, 0, 0) == -ENOSYS);

	CHECK(portal_register("/program/copy", "nmcrwi", 1, copy) == 0);
	portal = portal_open("/program/copy");
	char from[8] __attribute__((aligned(8))) = "GDKKN", to[8] __attribute__((aligned(8))) = "";
	CHECK(invoke_portal(portal, (long)from, (long)to, 5, 0, 0) == 5);
	CHECK(!strcmp(to, "HELLO"));

	gate = sem_create(0);
	done = sem_create(0);
	errno = 3;
	CHECK(portal_register("/program/wait", "nm", 0, wait_here) == 0);
	for (long i = 0; i < 4; i++)
		CHECK(thread_create(caller, (void *)i) > 0);
	while (__atomic_load_n(&inside, __ATOMIC_RELAXED) < 4)
		yield();
	for (int i = 0; i < 4; i++)
		sem_post(gate);
	for (int i = 0; i < 4; i++)
		sem_wait(done);
	for (int i = 0; i < 4; i++)
		CHECK(result_of[i] == 0);
	CHECK(errno == 3);
	puts("served");
	return 0;
}
