/* Stack queues: several threads in one server at once, callers that wait for a stack and go on when one is free,
   and a chain of calls that comes back to a server with no stack left. */
#include "../servers/protocol.h"

enum { THREADS = 6, ROUNDS = 20 };

static int slot, done;
static volatile int sum, results[THREADS], next;

static void each(void *argument)
{
	int mine = __atomic_fetch_add(&next, 1, __ATOMIC_SEQ_CST);
	results[mine] = call(slot, THREADS, 0, 0, 0, 0);
	sem_post(done);
	(void)argument;
}

static void repeatedly(void *argument)
{
	for (int i = 0; i < ROUNDS; i++)
		__atomic_fetch_add(&sum, call(slot, 2000, 0, 0, 0, 0), __ATOMIC_SEQ_CST);
	sem_post(done);
	(void)argument;
}

static void run(void (*function)(void *))
{
	for (int i = 0; i < THREADS; i++)
		CHECK(thread_create(function, NULL) > 0);
	for (int i = 0; i < THREADS; i++)
		sem_wait(done);
}

static int narrow_again;
static volatile int depth;

/* What the narrow server calls in the middle of a call from here: its one stack is this very thread's. */
static int back(int c, int again, int value)
{
	(void)c;
	depth++;
	return again ? call(narrow_again, again - 1, value, 0, 0, 0) : value;
}

static volatile int other_answer;

static void other(void *argument)
{
	other_answer = call(narrow_again, 0, 4242, 0, 0, 0);
	sem_post(done);
	(void)argument;
}

int main(void)
{
	done = sem_create(0);

	/* All six are inside before any leaves: each answer from 1 to 6 comes once. */
	slot = offered("/test/server", "nmci", 0, TOGETHER);
	run(each);
	int seen = 0;
	for (int i = 0; i < THREADS; i++)
		seen |= 1 << results[i];
	EXPECT(seen, 0x7e);
	EXPECT(fetched("/test/server").inside, 0);

	/* One stack: never two inside, and every caller gets its turn. */
	slot = offered("/test/narrow", "nmci", 0, SLOWLY);
	run(repeatedly);
	EXPECT(sum, 79 * THREADS * ROUNDS);
	EXPECT(fetched("/test/narrow").most, 1);

	/* Through the same entry of the wide server several are inside. */
	sum = 0;
	slot = offered("/test/server", "nmci", 0, SLOWLY);
	run(repeatedly);
	EXPECT(sum, 79 * THREADS * ROUNDS);
	CHECK(fetched("/test/server").most > 1);

	/* The chain here -> narrow -> here -> narrow: the second call would wait for the first one's stack. */
	EXPECT(portal_register("/program/back", "nmcii", 0, back), 0);
	narrow_again = offered("/test/narrow", "nmcii", 0, CALL_BACK);
	EXPECT(call(narrow_again, 0, 4141, 0, 0, 0), 4141);
	EXPECT(depth, 1);
	EXPECT(call(narrow_again, 1, 4141, 0, 0, 0), -PEBBLE_EDEADLK);
	EXPECT(depth, 2);
	/* Refused, not harmed: the same calls go on working, also for another thread that waits for the stack. */
	EXPECT(call(narrow_again, 0, 4343, 0, 0, 0), 4343);
	CHECK(thread_create(other, NULL) > 0);
	EXPECT(call(narrow_again, 1, 0, 0, 0, 0), -PEBBLE_EDEADLK);
	sem_wait(done);
	EXPECT(other_answer, 4242);
	return check_end();
}
