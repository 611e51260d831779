/* What the test server offers: `PREFIX/offer` makes it register one more portal with any specification and one of
   these entries; `PREFIX/fetch` shows what the entries saw. */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#include "../check.h"

enum {
	RECORD,       /* stores every integer register as it found it; answers 77 */
	RECORD_FLOAT, /* the same and every floating-point register */
	TRASH,        /* overwrites every register but sp and ra, integer and floating point; answers 78 */
	TOGETHER,     /* waits until a1 threads are inside, answers how many there were */
	SLOWLY,       /* sleeps a little, counts the most threads that were inside at once */
	CALL_BACK,    /* invokes /program/back with a1, a2; answers its answer */
	TOUCH,        /* loads from a1 + a3 (a2 = 0) or stores there (a2 = 1); answers the byte */
	SUM,          /* adds up a2 bytes from a1 on */
	FILL,         /* writes a3 to a2 bytes from a1 on */
	KEEP,         /* keeps a1; with a1 = 0 touches what it kept */
	DIE,          /* ends in the way a1 says; jumps to a2 */
	PASS,         /* hands a1, a2 on to slot c */
	OPEN,         /* opens the name in window a1 for itself; answers the slot */
	LOOK,         /* what INFO says of the calling thread, asked for in here, to window a1 */
	INVOKE,       /* invokes its slot a1 with a2, a3 */
	ACCEPT,       /* accepts what was passed as a1 by the specification in window a2; answers the slot */
	ACCEPT_TWO,   /* the same for a1 and a3; answers the second slot << 16 | the first */
	ACCEPT_LATE,  /* sleeps c cycles first; what `fetch` shows as `most` is the answer */
	SEMAPHORE,    /* makes a semaphore of value a1; answers the slot */
	ENTRIES
};

/* Ways to die. */
enum { BY_EXIT, BY_FAULT, BY_STACK_OVERFLOW, BY_ILLEGAL, BY_JUMP };

struct record {
	uint64_t x[32];
	uint64_t f[32];
	uint64_t inside, most;
};

/* One page's part, so that it is one window. */
struct shown {
	struct record record;
} __attribute__((aligned(1024)));

struct text {
	char text[NAMELEN];
} __attribute__((aligned(NAMELEN)));

static inline int open_of(const char *server, const char *name)
{
	struct text path;
	snprintf(path.text, sizeof path.text, "%s/%s", server, name);
	int slot = -ENOENT;
	/* The server may not have registered it yet. */
	for (int i = 0; i < 200 && slot == -ENOENT; i++) {
		slot = portal_open(path.text);
		if (slot == -ENOENT)
			hrsleep(hrtime() + 100000);
	}
	return slot;
}

/* A portal to `entry` in `server`, as `specification` says. */
static inline int offered(const char *server, const char *specification, long constant, int entry)
{
	struct text text = { { 0 } };
	strncpy(text.text, specification, NAMELEN - 1);
	int offer = open_of(server, "offer");
	if (offer < 0)
		return offer;
	long number = call(offer, (long)text.text, entry, constant, 0, 0);
	portal_close(offer);
	if (number < 0)
		return number;
	char name[24];
	snprintf(name, sizeof name, "%ld", number);
	return open_of(server, name);
}

/* What the entries of `server` saw last. */
static inline struct record fetched(const char *server)
{
	static struct shown shown;
	int fetch = open_of(server, "fetch");
	memset(&shown, 0, sizeof shown);
	EXPECT(call(fetch, (long)&shown, 0, 0, 0, 0), 0);
	portal_close(fetch);
	return shown.record;
}

/* Starts a component of the description by name; answers its domain. */
static inline long start_component(const char *name)
{
	struct text text = { { 0 } };
	strncpy(text.text, name, NAMELEN - 1);
	int start = portal_open("/init/start");
	if (start < 0)
		return start;
	long asid = call(start, (long)text.text, 0, 0, 0, 0);
	portal_close(start);
	return asid;
}

/* Starts the server that tests end, and waits until it has its names; answers its domain. */
static inline long start_mortal(void)
{
	long asid = start_component("mortal");
	int slot = asid > 0 ? open_of("/test/mortal", "offer") : -1;
	CHECK(asid > 0 && slot > 0);
	portal_close(slot);
	return asid;
}

/* One record about the system. */
struct info {
	char name[32];
	uint64_t values[8];
} __attribute__((aligned(128)));
enum { INFO_DOMAIN, INFO_THREAD, INFO_PORTAL, INFO_MEMORY, INFO_SERVICE };

/* Whether a domain runs; its number may be used again later. */
static inline int domain_alive(int asid)
{
	struct info record = { { 0 }, { 0 } };
	return system_info(INFO_DOMAIN, asid, &record) == 0 && record.values[6] & 1;
}

/* Waits for a domain's end, some time. */
static inline int domain_ended(int asid)
{
	for (int i = 0; i < 200 && domain_alive(asid); i++)
		hrsleep(hrtime() + 100000);
	return !domain_alive(asid);
}

#endif
