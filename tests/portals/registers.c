/* Letter p: the callee finds nothing of the caller's registers, and the caller finds all of its own again, integer
   and floating point, whatever the callee does to them. */
#include "../servers/protocol.h"
#include "registers.h"

#define SERVER "/test/server"

static void survives(int slot, long a1, long a2, long result, const char *what)
{
	struct state after;
	uint64_t tp;
	__asm__("mv %0, tp" : "=r"(tp));
	memset(&after, 0xff, sizeof after);
	held_over(slot, &after, a1, a2, 0);
	if (!EXPECT(wrong_integers(&after), 0))
		printf("  integer registers over %s\n", what);
	EXPECT(after.tp, tp);
	if (!EXPECT(wrong_floats(&after, 1), 0))
		printf("  floating-point registers over %s\n", what);
	EXPECT(after.fcsr, 0x61);
	EXPECT(after.result, result);
}

/* What is called from the middle of a call: uses floating point itself. */
static volatile double product = 1;
static int back(int c, int a1, int a2)
{
	(void)c;
	for (int i = 0; i < 10; i++)
		product = product * 1.5 + a1;
	return a2;
}

int main(void)
{
	EXPECT(portal_register("/program/back", "npcii", 0, back), 0);
	static const char *const kinds[] = { "npc", "spc" };
	for (int kind = 0; kind < 2; kind++) {
		const char *k = kinds[kind];
		char text[16];
		int trash = offered(SERVER, k, 0, TRASH);
		for (int i = 0; i < 3; i++)
			survives(trash, 0, 0, 78, "a callee that overwrites everything");
		/* The callee looks: nothing of the caller's numbers, all zero. */
		int look = offered(SERVER, k, 0, RECORD_FLOAT);
		survives(look, 0, 0, 77, "a callee that looks");
		struct record seen = fetched(SERVER);
		int leftovers = 0;
		for (int i = 5; i < 32; i++)
			leftovers += seen.x[i] != 0;
		EXPECT(leftovers + (seen.x[3] != 0), 0);
		leftovers = 0;
		for (int i = 0; i < 32; i++)
			leftovers += seen.f[i] != 0;
		EXPECT(leftovers, 0);
		/* A second look by the same thread finds nothing of the callee's first visit either. */
		survives(trash, 0, 0, 78, "the first of two visits");
		survives(look, 0, 0, 77, "the second of two visits");
		seen = fetched(SERVER);
		leftovers = 0;
		for (int i = 0; i < 32; i++)
			leftovers += seen.f[i] != 0;
		EXPECT(leftovers, 0);
		/* With windows, and through a callee that calls back here, where floating point is used. */
		static char page[64] __attribute__((aligned(64)));
		memset(page, 1, sizeof page);
		snprintf(text, sizeof text, "%swi", k);
		survives(offered(SERVER, text, 0, SUM), (long)page, 64, 64, "a call with a window");
		snprintf(text, sizeof text, "%sii", k);
		survives(offered(SERVER, text, 0, CALL_BACK), 3, 4444, 4444, "a call that calls back");
		/* While the thread sleeps inside. */
		snprintf(text, sizeof text, "%si", k);
		survives(offered(SERVER, text, 0, SLOWLY), 3000000, 0, 79, "a call that sleeps");
	}
	/* Services of the system and an empty slot keep what C keeps. */
	survives(SYS_YIELD, 0, 0, 0, "yield");
	survives(NPORTALS - 1, 0, 0, -PEBBLE_ENOSYS, "an empty slot");
	return check_end();
}
