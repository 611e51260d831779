/* Hammers portals with random numbers: every slot but the two that would only end it, with words that are sometimes
   addresses, domains, slots or names. Tells the test how often it has called. */
#include "../../servers/protocol.h"

static uint64_t seed;
static char page[4 * PEBBLE_PAGE] __attribute__((aligned(4096)));

static uint64_t random64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * 0x2545f4914f6cdd1d;
}

static long word(void)
{
	uint64_t r = random64();
	switch (r >> 60) {
	case 0:
		return r & 0xff;
	case 1:
		return -(long)(r & 0xff);
	case 2:
		return r;
	case 3:
		return (long)page + (r & 0x3fff);
	case 4:
		return PEBBLE_STACKS + (r & 0x3ffffff);
	case 5:
		return PEBBLE_IMAGE + (r & 0xffff);
	case 6:
		return PEBBLE_GATE + (r & 0x3fff);
	case 7:
		return 1L << (r & 63);
	case 8:
		return (r & 0xffff) * PEBBLE_PAGE;
	case 9:
		return 0xffffffc080000000 + (r & 0x7ffff8);
	case 10:
		return 0xffffffffc0000000 + (r & 0x1ffff8);
	default:
		return r & 0x1f;
	}
}

int main(void)
{
	int did = portal_open("/program/did");
	if (did < 0)
		return 1;
	/* Deterministic where time is: another number at each start. */
	__asm__ volatile("rdcycle %0" : "=r"(seed));
	seed |= 1;
	static const char *const texts[] = { "/test/adversary/a", "/program/did", "nmcri", "smw8", "npttt", "/", "" };
	for (unsigned count = 1;; count++) {
		/* What may be read as a name or a specification. */
		if (count % 16 == 0)
			strcpy(page + (random64() & 0x3f) * 64, texts[random64() % 7]);
		long slot = random64() & 1 ? random64() % 128 : word();
		if (slot % NPORTALS == SYS_EXIT || slot % NPORTALS == SYS_THREAD_EXIT)
			continue;
		/* A sleep of any length would be no work. */
		if ((slot & (NPORTALS - 1)) == SYS_HRSLEEP && random64() % 8)
			continue;
		if ((slot & (NPORTALS - 1)) == SYS_EXIT || (slot & (NPORTALS - 1)) == SYS_THREAD_EXIT)
			continue;
		call(slot, word(), word(), word(), word(), word());
		if (count % 256 == 0)
			call(did, 256, 0, 0, 0, 0);
	}
}
