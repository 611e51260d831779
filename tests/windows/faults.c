/* What a server may not do with windows: each attempt ends it with a fault, the caller gets -EOWNERDEAD and goes on with
   its memory as it was. */
#include "../servers/protocol.h"

#define SERVER "/test/mortal"
#define PAGE ((long)PEBBLE_PAGE)

static char memory[6 * PEBBLE_PAGE] __attribute__((aligned(4096)));

static void unharmed(void)
{
	int changed = 0;
	for (int i = 0; i < 6 * PAGE; i++)
		changed += memory[i] != 7;
	EXPECT(changed, 0);
	memset(memory, 7, sizeof memory);
}

/* One call that ends a fresh server, and a second that finds it dead. */
static void fatal(const char *specification, int entry, long a1, long a2, long a3)
{
	start_mortal();
	int slot = offered(SERVER, specification, 0, entry);
	if (!EXPECT(call(slot, a1, a2, a3, 0, 0), -PEBBLE_EOWNERDEAD))
		printf("  %s, entry %d, 0x%lx, 0x%lx, 0x%lx\n", specification, entry, a1, a2, a3);
	EXPECT(call(slot, a1, a2, a3, 0, 0), -PEBBLE_EOWNERDEAD);
	EXPECT(portal_close(slot), 0);
	unharmed();
}

static const char *spelled(const char *stack_and_state, const char *arguments)
{
	static char text[16];
	snprintf(text, sizeof text, "%s%s", stack_and_state, arguments);
	return text;
}

int main(void)
{
	memset(memory, 7, sizeof memory);
	static const char *const kinds[] = { "nm", "sm", "np", "sp" };
	for (int kind = 0; kind < 4; kind++) {
		const char *k = kinds[kind];
		long inside = (long)memory + 2 * PAGE + 40;
		/* Writing through a window for reading. */
		fatal(spelled(k, "crii"), TOUCH, inside, 1, 0);
		/* The pages beside it, in both directions. */
		fatal(spelled(k, "crii"), TOUCH, inside, 0, PAGE);
		fatal(spelled(k, "cwii"), TOUCH, inside, 1, PAGE);
		/* Before the first window of a queue's stack lies the end of another one of the server's own. */
		if (k[0] == 's')
			fatal(spelled(k, "cwii"), TOUCH, inside, 1, -PAGE);
		fatal(spelled(k, "cw2ii"), TOUCH, inside, 1, 2 * PAGE);
		/* Executing what it shows. */
		fatal(spelled(k, "ciw"), DIE, BY_JUMP, inside, 0);

		/* Keeping the address: gone when the call is over. */
		start_mortal();
		int keep = offered(SERVER, spelled(k, "cw"), 0, KEEP);
		int look = offered(SERVER, spelled(k, "ci"), 0, KEEP);
		EXPECT(call(keep, inside, 0, 0, 0, 0), 7);
		EXPECT(call(look, 0, 0, 0, 0, 0), -PEBBLE_EOWNERDEAD);
		EXPECT(portal_close(keep), 0);
		EXPECT(portal_close(look), 0);
		unharmed();

		/* The caller's addresses mean nothing there. */
		char *region = vm_map(PAGE);
		*region = 1;
		fatal(spelled(k, "cii"), TOUCH, (long)region, 0, 0);
		EXPECT(vm_unmap(region), 0);
	}
	/* Letter s shows the caller's stack, letter n does not. */
	char on_stack = 5;
	start_mortal();
	EXPECT(call(offered(SERVER, "smcii", 0, TOUCH), (long)&on_stack, 0, 0, 0, 0), 5);
	EXPECT(call(offered(SERVER, "nmci", 0, DIE), BY_EXIT, 0, 0, 0, 0), -PEBBLE_EOWNERDEAD);
	fatal("nmcii", TOUCH, (long)&on_stack, 0, 0);
	return check_end();
}
