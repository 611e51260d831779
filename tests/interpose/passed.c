/* Letter k through interposers. A child passes its own slot; its parent has the real portal at the same number, so passing
   the word on passes that. A parent that wants to stay between accepts the child's portal, which leads to the
   parent, and passes that instead. The same holds for a child that is a parent. */
#include "../servers/protocol.h"

#define SERVER "/test/server"
/* p3 of a call of the taker: pass the word on, or something that leads here. */
enum { PASS_ON, STAY_BETWEEN };

static int taker, user, teller, child, depth, between;
/* Calls of each slot that came through this domain. */
static int counts[NPORTALS];

static long intercept(int id, long p1, long p2, long p3, long p4, long p5)
{
	static struct text call_text = { "npc" };
	counts[id]++;
	if (id == taker && p3 == STAY_BETWEEN) {
		between = p1;
		long mine = portal_accept(p1, "npc");
		CHECK(mine >= PEBBLE_FIRST_DYNAMIC && mine != p1);
		/* The child passed it as this slot only, and only to this call. */
		EXPECT(portal_accept(mine, "npc"), -EPERM);
		return call(taker, mine, (long)call_text.text, PASS_ON, 0, 0);
	}
	return call(id, p1, p2, p3, p4, p5);
}

static int notify(int asid, int id, char *template)
{
	char s[NAMELEN];
	(void)asid;
	/* The child may run before the fork has answered here. */
	while (child == 0)
		yield();
	sprintf(s, "sm=%s", template + 3);
	return portal_create_child(child, id, s, 0, intercept);
}

static int told(int c, int more, int failed)
{
	(void)c;
	checks += more;
	failures += failed;
	return 0;
}

/* The server invokes its slot. */
static long used(long slot)
{
	return call(user, slot, 0, 0, 0, 0);
}

static long passed(long slot, const char *specification, int how)
{
	static struct text text;
	strncpy(text.text, specification, NAMELEN - 1);
	return call(taker, slot, (long)text.text, how, 0, 0);
}

/* What a child does with a semaphore that its parent made for it. */
static void as_child(void)
{
	int semaphore = sem_create(0);
	long there = passed(semaphore, "PV", PASS_ON);
	CHECK(there >= PEBBLE_FIRST_DYNAMIC);
	EXPECT(used(there + 1), 0);
	EXPECT(sem_wait(semaphore), 0);
	/* The same with the parent in between: it serves the server's V. */
	there = passed(semaphore + 1, "V", STAY_BETWEEN);
	CHECK(there >= PEBBLE_FIRST_DYNAMIC);
	EXPECT(used(there), 0);
	EXPECT(sem_wait(semaphore), 0);
	EXPECT(passed(5, "PV", PASS_ON), -EBADF);
	EXPECT(passed(NPORTALS - 1, "PV", PASS_ON), -EBADF);
	EXPECT(portal_accept(semaphore, "PV"), -EPERM);
}

static void with_child(void)
{
	/* Made before the child: both have it, at the same slot. */
	int done = sem_create(0);
	EXPECT(portal_notify(notify), 0);
	child = 0;
	int made = domain_fork(intercept);
	CHECK(made >= 0);
	if (made == 0) {
		checks = failures = 0;
		memset(counts, 0, sizeof counts);
		as_child();
		if (++depth < 2)
			with_child();
		call(teller, checks, failures, 0, 0, 0);
		sem_post(done);
		for (;;)
			sem_wait(done);
	}
	child = made;
	EXPECT(sem_wait(done), 0);
	EXPECT(domain_kill(made), 0);
	/* Every pass came through here but those of what is no slot, and the server's one use of what leads here. */
	EXPECT(counts[taker], depth ? 3 : 6);
	EXPECT(counts[between], 1);
}

int main(void)
{
	taker = offered(SERVER, "npckr", 0, ACCEPT);
	user = offered(SERVER, "npciii", 0, INVOKE);
	EXPECT(portal_register("/program/tell", "npcii", 0, told), 0);
	teller = portal_open("/program/tell");
	with_child();
	return check_end();
}
