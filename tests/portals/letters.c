/* Every letter of a specification, as a server in another domain sees it. */
#include "../servers/protocol.h"

#define SERVER "/test/server"
#define A(n) seen.x[10 + (n)]

/* Calls with numbers that no letter puts there, and fetches what arrived. */
static struct record called(const char *specification, long constant, int *slot)
{
	int portal = offered(SERVER, specification, constant, RECORD);
	CHECK(portal >= PEBBLE_FIRST_DYNAMIC);
	EXPECT(call(portal, 0x1111111122222222, 2, 3, 4, 5), 77);
	*slot = portal;
	return fetched(SERVER);
}

static int in_stacks_of(uint64_t sp, uint64_t asid)
{
	uint64_t area = PEBBLE_STACKS + asid * PEBBLE_STACK_AREA;
	return sp > area && sp <= area + PEBBLE_STACK_AREA;
}

int main(void)
{
	int slot;
	uint64_t own = get_asid();
	static const char *const kinds[] = { "nm", "sm", "np", "sp" };
	for (int kind = 0; kind < 4; kind++) {
		char text[16];
		/* Words as they are, constant, slot. */
		snprintf(text, sizeof text, "%s=ci", kinds[kind]);
		struct record seen = called(text, 0x7123456789abcdef, &slot);
		EXPECT(A(0), slot);
		EXPECT(A(1), 0x7123456789abcdef);
		EXPECT(A(2), 2);
		/* Letter s: the caller's stack; n: one of the server's. */
		CHECK(in_stacks_of(seen.x[2], own) == (kinds[kind][0] == 's'));

		/* Thread, domain, time stamp. */
		unsigned long long before = hrtime();
		snprintf(text, sizeof text, "%stdhiii", kinds[kind]);
		seen = called(text, 0, &slot);
		EXPECT(A(0), (long)own << 32 | get_thread());
		EXPECT(A(1), own);
		CHECK(A(2) > before && A(2) < hrtime());
		EXPECT(A(3), 3);
		EXPECT(A(4), 4);
		EXPECT(A(5), 5);

		/* No letters: the first parameter is the slot, p1 in a1 as they were, but with p nothing arrives. */
		seen = called(kinds[kind], 0, &slot);
		int partial = kinds[kind][1] == 'p';
		EXPECT(A(0), partial ? 0 : slot);
		EXPECT(A(1), partial ? 0 : 0x1111111122222222);
		EXPECT(A(5), partial ? 0 : 5);
		/* Nothing else is passed on with p: all but ra, sp, tp are zero. */
		int leftovers = 0;
		for (int i = 5; i < 32; i++)
			leftovers += seen.x[i] != 0;
		CHECK(partial ? leftovers == 0 : leftovers > 0);
		EXPECT(partial && seen.x[3], 0);

		/* A portal as an argument: its slot in this table, which nothing else can stand for. */
		snprintf(text, sizeof text, "%scki", kinds[kind]);
		int passes = offered(SERVER, text, 0, RECORD);
		EXPECT(call(passes, slot, 2, 3, 4, 5), 77);
		seen = fetched(SERVER);
		EXPECT(A(1), slot);
		EXPECT(A(2), 2);
		EXPECT(call(passes, 2, 2, 3, 4, 5), -EBADF);
		portal_close(passes);

		/* Windows: six of them, readable and writable; the offset in the page stays. */
		static char buffers[6][64] __attribute__((aligned(64)));
		snprintf(text, sizeof text, "%srwrwrw", kinds[kind]);
		int windows = offered(SERVER, text, 0, RECORD);
		/* The first parameter is the slot number, which is no address: the call is refused. */
		EXPECT(call(windows, (long)buffers[1], (long)buffers[2], (long)buffers[3], (long)buffers[4], (long)buffers[5]),
		       -EFAULT);
		portal_close(windows);
		snprintf(text, sizeof text, "%scwrwrw", kinds[kind]);
		windows = offered(SERVER, text, 0, RECORD);
		EXPECT(call(windows, (long)buffers[1], (long)buffers[2], (long)buffers[3], (long)buffers[4], (long)buffers[5]),
		       77);
		seen = fetched(SERVER);
		for (int i = 1; i < 6; i++) {
			EXPECT(A(i) % PEBBLE_PAGE, (long)buffers[i] % PEBBLE_PAGE);
			CHECK(A(i) != (uint64_t)buffers[i]);
			/* Each has a page of its own, in order. */
			EXPECT(A(i) / PEBBLE_PAGE - A(1) / PEBBLE_PAGE, i - 1);
		}
		portal_close(windows);
	}
	return check_end();
}
