/* A server that ends in the middle of a call, in every way: the caller gets -EOWNERDEAD, and so do all others that are
   inside or wait for a stack; nothing else is touched. */
#include "../servers/protocol.h"

#define SERVER "/test/mortal"

enum { WAITERS = 6 };
static int inside, waiting_slot, done, waiting;
static volatile int dead;

static void wait_inside(void *argument)
{
	__atomic_fetch_add(&waiting, 1, __ATOMIC_SEQ_CST);
	/* More than can be inside: four have stacks there, two wait for one. */
	if (call(waiting_slot, 100, 0, 0, 0, 0) == -PEBBLE_EOWNERDEAD)
		__atomic_fetch_add(&dead, 1, __ATOMIC_SEQ_CST);
	sem_post(done);
	(void)argument;
}

static void dies(const char *specification, int how, long address)
{
	start_mortal();
	int die = offered(SERVER, specification, 0, DIE);
	if (!EXPECT(call(die, how, address, 0, 0, 0), -PEBBLE_EOWNERDEAD))
		printf("  %s, way %d\n", specification, how);
	EXPECT(call(die, how, address, 0, 0, 0), -PEBBLE_EOWNERDEAD);
	EXPECT(portal_close(die), 0);
	/* The name is gone with the server. */
	EXPECT(portal_open(SERVER "/offer"), -ENOENT);
}

int main(void)
{
	static const char *const kinds[] = { "nmcii", "smcii", "npcii", "spcii" };
	done = sem_create(0);
	for (int kind = 0; kind < 4; kind++) {
		for (int how = BY_EXIT; how <= BY_JUMP; how++) {
			/* On the caller's stack an overflow is the server's fault all the same. */
			dies(kinds[kind], how, 0x7fffff000);
		}
		dies(kinds[kind], BY_JUMP, 0);
		dies(kinds[kind], BY_JUMP, 1);
		dies(kinds[kind], BY_JUMP, -4);
		dies(kinds[kind], BY_JUMP, (long)PEBBLE_STACKS);
	}

	for (int round = 0; round < 3; round++) {
		start_mortal();
		waiting_slot = offered(SERVER, round == 1 ? "npci" : "nmci", 0, TOGETHER);
		/* Shares this thread's stack, so it needs none of the queue. */
		inside = offered(SERVER, "smcii", 0, DIE);
		waiting = dead = 0;
		for (int i = 0; i < WAITERS; i++)
			CHECK(thread_create(wait_inside, NULL) > 0);
		while (waiting < WAITERS)
			yield();
		hrsleep(hrtime() + 2000000);
		EXPECT(dead, 0);
		EXPECT(call(inside, round == 2 ? BY_EXIT : BY_FAULT, 0, 0, 0, 0), -PEBBLE_EOWNERDEAD);
		for (int i = 0; i < WAITERS; i++)
			sem_wait(done);
		EXPECT(dead, WAITERS);
		portal_close(waiting_slot);
		portal_close(inside);
	}
	/* Another server was never concerned. */
	EXPECT(call(offered("/test/server", "nmci", 0, RECORD), 0, 0, 0, 0, 0), 77);
	return check_end();
}
