/* Calls nested until the invocation stack is full: the innermost is refused with -PEBBLE_ELOOP, all others return, and the
   program goes on. */
#include "../servers/protocol.h"

static int self, other;
static volatile int deepest, refusals;

static long down(int c, int depth)
{
	(void)c;
	if (depth > deepest)
		deepest = depth;
	long answer = call(self, depth + 1, 0, 0, 0, 0);
	if (answer == -PEBBLE_ELOOP) {
		refusals++;
		return depth;
	}
	return answer;
}

/* Through another domain and back. */
static long across(int c, int depth)
{
	(void)c;
	if (depth > deepest)
		deepest = depth;
	long answer = call(other, depth + 1, 0, 0, 0, 0);
	if (answer == -PEBBLE_ELOOP) {
		refusals++;
		return depth;
	}
	return answer;
}

int main(void)
{
	EXPECT(portal_register("/program/self", "smci", 0, down), 0);
	EXPECT(portal_register("/program/careful", "spci", 0, down), 0);
	EXPECT(portal_register("/program/back", "smcii", 0, across), 0);
	self = portal_open("/program/self");
	for (int round = 0; round < 3; round++) {
		refusals = deepest = 0;
		CHECK(call(self, 1, 0, 0, 0, 0) == deepest);
		EXPECT(refusals, 1);
		CHECK(deepest > 50 && deepest < 170);
	}
	int minimal = deepest;

	self = portal_open("/program/careful");
	refusals = deepest = 0;
	CHECK(call(self, 1, 0, 0, 0, 0) == deepest);
	EXPECT(refusals, 1);
	/* A frame that keeps registers takes more room. */
	CHECK(deepest > 5 && deepest < minimal);

	other = offered("/test/server", "smcii", 0, CALL_BACK);
	refusals = deepest = 0;
	CHECK(call(other, 1, 0, 0, 0, 0) == deepest);
	EXPECT(refusals, 1);
	CHECK(deepest > 20 && deepest < minimal);

	/* Everything still works. */
	EXPECT(call(offered("/test/server", "nmci", 0, RECORD), 1, 0, 0, 0, 0), 77);
	EXPECT(sem_wait(sem_create(1)), 0);
	return check_end();
}
