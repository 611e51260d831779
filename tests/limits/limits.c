/* Each resource has its limit and its documented error, for the one who takes it alone; and everything is back when a
   domain has died, by exit, fault or from outside, 200 times. */
#include "../servers/protocol.h"
#include "menu.h"

static int finished;
static volatile long order;
static volatile struct {
	long error;
	int count;
} eaten[KINDS];

static long menu(void)
{
	return order;
}

static int ate(int c, int what, long error, int count)
{
	(void)c;
	if (what >= 0 && what < KINDS) {
		eaten[what].error = error;
		eaten[what].count = count;
	}
	sem_post(finished);
	return 0;
}

static struct info memory(void)
{
	struct info record = { { 0 }, { 0 } };
	system_info(INFO_MEMORY, 0, &record);
	return record;
}

static int slots_used(void)
{
	int count = 0;
	struct info record;
	for (int i = 0; i < 512; i++)
		count += system_info(INFO_SERVICE, i, &record) == 0;
	return count;
}

static int threads_used(void)
{
	int count = 0;
	struct info record;
	for (int i = 0; i < 256; i++)
		count += system_info(INFO_THREAD, i, &record) == 0;
	return count;
}

static long stop(const char *name)
{
	struct text text = { { 0 } };
	strcpy(text.text, name);
	int slot = portal_open("/init/stop");
	long answer = call(slot, (long)text.text, 0, 0, 0, 0);
	portal_close(slot);
	return answer;
}

/* One life: takes what `what` says, and ends. */
static void life(long what)
{
	int kinds = __builtin_popcount(what & ((1 << KINDS) - 1));
	order = what;
	long asid = start_component("glutton");
	if (!CHECK(asid > 0))
		return;
	for (int i = 0; i < kinds; i++)
		sem_wait(finished);
	if (!(what & WAYS))
		EXPECT(stop("glutton"), 0);
	CHECK(domain_ended(asid));
}

/* Waits until what the dead held has been given back: that is the work of a thread of the portal manager. */
static void same_as(struct info before, int services, int threads, const char *when)
{
	struct info after;
	for (int i = 0; i < 50; i++) {
		after = memory();
		if (!memcmp(before.values, after.values, sizeof after.values))
			break;
		hrsleep(hrtime() + 200000);
	}
	static const char *const names[] = { "free pages", "all pages",	 "bytes of portal code", "pool pages",
					     "resident",   "boot pages", "portals" };
	for (int i = 0; i < 7; i++)
		if (!EXPECT(after.values[i], before.values[i]))
			printf("  %s %s\n", names[i], when);
	EXPECT(slots_used(), services);
	EXPECT(threads_used(), threads);
}

int main(void)
{
	static const struct {
		const char *name;
		long error;
		int least, most;
	} expected[KINDS] = {
		[NAMES] = { "names", -EMFILE, 32, 32 },
		[STACKS] = { "stacks", -EAGAIN, 24, 31 },
		[THREADS] = { "threads", -EAGAIN, 31, 31 },
		[ADDRESSES] = { "addresses", -ENOMEM, 5, 8 },
		[HEAP] = { "heap", -ENOMEM, 24, 32 },
		[PAGES] = { "pages", -ENOMEM, 1700, 2048 },
		[CHILDREN] = { "children", -EAGAIN, 16, 16 },
		[SEMAPHORES] = { "semaphores", -EMFILE, 200, 224 },
		[PORTALS] = { "portals", -EMFILE, 440, 448 },
	};
	printf("start\n"); /* opens the console before anything is counted */
	finished = sem_create(0);
	EXPECT(portal_register("/program/menu", "nm", 0, menu), 0);
	EXPECT(portal_register("/program/ate", "nmciii", 0, ate), 0);
	/* Some lives first: what is made once for all, in each server's memory too, is made then. */
	for (int i = 0; i < 15; i++)
		life(LITTLE | ((1 << KINDS) - 1) | (i % 3 == 0 ? WAY_EXIT : i % 3 == 1 ? WAY_FAULT : WAY_WAIT));
	hrsleep(hrtime() + 2000000);
	hrsleep(hrtime() + 2000000);
	struct info before = memory();
	CHECK(before.values[0] > 0 && before.values[2] > 0);
	int services = slots_used(), threads = threads_used();

	/* Each to the last. */
	for (int what = 0; what < KINDS; what++) {
		static const long ways[] = { WAY_EXIT, WAY_FAULT, WAY_WAIT };
		life(1L << what | ways[what % 3]);
		if (!EXPECT(eaten[what].error, expected[what].error))
			printf("  %s: %d\n", expected[what].name, eaten[what].count);
		if (!CHECK(eaten[what].count >= expected[what].least && eaten[what].count <= expected[what].most))
			printf("  %s: %d\n", expected[what].name, eaten[what].count);
		same_as(before, services, threads, expected[what].name);
		/* While one domain has had all it could, this one was and is served. */
		int s = sem_create(1);
		EXPECT(sem_wait(s), 0);
		EXPECT(sem_destroy(s), 0);
	}

	/* 200 deaths of a domain that has some of everything. */
	for (int i = 0; i < 200; i++)
		life(LITTLE | ((1 << KINDS) - 1) | (i % 3 == 0 ? WAY_EXIT : i % 3 == 1 ? WAY_FAULT : WAY_WAIT));
	same_as(before, services, threads, "200 deaths");
	return check_end();
}
