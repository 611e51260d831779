/* Windows on memory that is not the caller's, or not usable this way: -EFAULT, and nothing is left open. */
#include "../servers/protocol.h"

#define SERVER "/test/server"
#define PAGE ((long)PEBBLE_PAGE)

static char memory[12 * PEBBLE_PAGE] __attribute__((aligned(4096)));

static void refused(void)
{
	static const char *const kinds[] = { "nmcw", "smcw", "npcw", "spcw", "nmcr", "smcr", "npcr", "spcr" };
	for (unsigned kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
		char text[16];
		snprintf(text, sizeof text, "%s", kinds[kind]);
		int one = offered(SERVER, text, 0, RECORD);
		int writes = text[3] == 'w';
		static const unsigned long bad[] = {
			0,		    8,			PEBBLE_PAGE,	    PEBBLE_IMAGE - 1,
			0x3ffff000,	    PEBBLE_USER_LIMIT,	PEBBLE_USER_LIMIT - 1, 0x80000000,
			0x80200000,	    0xffffffc000000000, 0xffffffff80000000, 0xffffffffc0000000,
			-1UL,		    0x8000000000000000, PEBBLE_DEVICE + 0x10000000,
			PEBBLE_STACKS + 2 * PEBBLE_STACK_AREA + PEBBLE_STACK_SLOT - 16, /* the portal manager's */
		};
		for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
			if (!EXPECT(call(one, bad[i], 0, 0, 0, 0), -EFAULT))
				printf("  %s on 0x%lx\n", text, bad[i]);
		/* Bits that a walk of page tables might overlook. */
		EXPECT(call(one, (long)memory | 1L << 39, 0, 0, 0, 0), -EFAULT);
		EXPECT(call(one, (long)memory | 1L << 55, 0, 0, 0, 0), -EFAULT);
		EXPECT(call(one, (long)memory | 1L << 63, 0, 0, 0, 0), -EFAULT);
		EXPECT(call(one, (long)memory, 0, 0, 0, 0), 77);
		/* Read-only for all: gate and start information. */
		EXPECT(call(one, PEBBLE_START_INFO, 0, 0, 0, 0), writes ? -EFAULT : 77);
		/* An own stack's guard page, and the window pages of a stack in no call. */
		uint64_t area = PEBBLE_STACKS + (long)get_asid() * PEBBLE_STACK_AREA;
		EXPECT(call(one, area + PEBBLE_STACK_BOTTOM - 8, 0, 0, 0, 0), -EFAULT);
		EXPECT(call(one, area, 0, 0, 0, 0), -EFAULT);
		portal_close(one);

		/* Several pages of which only the last is not there. */
		char *region = vm_map(3 * PAGE);
		snprintf(text, sizeof text, "%s4", kinds[kind]);
		int four = offered(SERVER, text, 0, RECORD);
		EXPECT(call(four, (long)region, 0, 0, 0, 0), -EFAULT);
		portal_close(four);
		snprintf(text, sizeof text, "%s3", kinds[kind]);
		int three = offered(SERVER, text, 0, RECORD);
		EXPECT(call(three, (long)region, 0, 0, 0, 0), 77);
		portal_close(three);
		EXPECT(vm_unmap(region), 0);
	}
	/* After all the refusals nothing has leaked: all 16 window pages are there. */
	int eight = offered(SERVER, "smcw8", 0, RECORD);
	EXPECT(call(eight, (long)memory, 0, 0, 0, 0), 77);
	portal_close(eight);
}

int main(void)
{
	refused();
	return check_end();
}
