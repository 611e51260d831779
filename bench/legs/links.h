/* What the members of a chain offer each other: one name for each specification, `/bench/PLACE/SPECIFICATION`. */
#ifndef LINKS_H
#define LINKS_H

#include "../support/measure.h"

#define LINKS 7 /* domains besides the program; the last one answers, the others call the next */

/* Specifications that are passed down the whole chain. */
static const char *const chained[] = { "smciii", "npciii", "smcwii", "npcwii" };
#define CHAINED ((int)(sizeof chained / sizeof *chained))

/* Specifications of calls to the last link alone; more pages, and a callee that writes to the window. */
static const char *const single[] = { "smcw2ii", "smcw4ii", "npcw2ii", "npcw4ii" };
#define SINGLE ((int)(sizeof single / sizeof *single))

static inline void link_name(char *name, int place, const char *how, const char *specification)
{
	snprintf(name, NAMELEN, "/bench/%d/%s%s", place, how, specification);
}

/* Opens a link's portal, which may not be offered yet. */
static inline int link_open(int place, const char *how, const char *specification)
{
	char name[NAMELEN];
	int slot;
	link_name(name, place, how, specification);
	while ((slot = portal_open(name)) == -ENOENT)
		yield();
	return measure_good(name, slot);
}
#endif
