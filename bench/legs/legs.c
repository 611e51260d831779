/* Row 2: call and return through a chain of domains. One sample: from the program through all links and back.

   In a chain of n domains there are n - 1 calls and as many returns. A chain of one domain is the program calling
   itself: one call, one return. */
#include "links.h"

static char area[5 * PEBBLE_PAGE] __attribute__((aligned(PEBBLE_PAGE)));

static int answer(void)
{
	return 0;
}

/* The code that was made must be what the name of the figure says: no other stack, no other letters. */
static void check(int slot, const char *specification)
{
	struct measure_record record;
	measure_portal(slot, &record);
	if (strcmp(record.name, specification)) {
		fprintf(stderr, "asked for %s, the portal is %s\n", specification, record.name);
		exit(1);
	}
}

static void measure(const char *figure, int slot, int legs)
{
	long first = (long)area;
	measure_good(figure, invoke_portal(slot, first, 2, 3, 0, 0));
	MEASURE(figure, legs, invoke_portal(slot, first, 2, 3, 0, 0));
}

/* A call that is measured: of the link in `place`, through all behind it. */
struct call {
	char figure[32];
	int slot, legs;
};
static struct call calls[64];
static int made;

/* Opens it, before anything is measured. */
static void add(const char *figure, const char *specification, int slot, int legs)
{
	struct call *call = &calls[made++];
	snprintf(call->figure, sizeof call->figure, "%s", figure);
	check(slot, specification);
	call->slot = slot;
	call->legs = legs;
}

static void add_link(const char *figure, int place, const char *how, const char *specification, int legs)
{
	add(figure, specification, link_open(place, how, specification), legs);
}

int main(int argc, char **argv)
{
	char figure[64];
	/* Present before the first sample. */
	memset(area, 1, sizeof area);
	for (int i = 0; i < CHAINED; i++) {
		const char *specification = chained[i];
		char name[NAMELEN];
		snprintf(name, sizeof name, "/program/%s", specification);
		measure_good(name, portal_register(name, specification, 0, answer));
		sprintf(figure, "%s/1", specification);
		add(figure, specification, measure_good(name, portal_open(name)), 2);
		for (int domains = 2; domains <= LINKS + 1; domains++) {
			sprintf(figure, "%s/%d", specification, domains);
			add_link(figure, LINKS + 2 - domains, "", specification, 2 * (domains - 1));
		}
	}
	add_link("smcwii-written/2", LINKS, "written/", "smcwii", 2);
	add_link("npcwii-written/2", LINKS, "written/", "npcwii", 2);
	for (int i = 0; i < SINGLE; i++) {
		sprintf(figure, "%s/2", single[i]);
		add_link(figure, LINKS, "", single[i], 2);
		sprintf(figure, "%s-written/2", single[i]);
		add_link(figure, LINKS, "written/", single[i], 2);
	}
	measure_start(argc, argv);
	for (int i = 0; i < made; i++)
		measure(calls[i].figure, calls[i].slot, calls[i].legs);
	return 0;
}
