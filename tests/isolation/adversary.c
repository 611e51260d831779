/* 100,000 portal calls with random numbers, by a component that is started again each time it has ended itself: it
   harms nobody else. Another component goes on counting with its memory and registers as they should be, and the test
   server answers as before. */
#include "../servers/protocol.h"

enum { CALLS = 100000 };

static volatile long total;

static int did(int c, int count)
{
	(void)c;
	/* It may say anything here; what counts is that it came. */
	if (count == 256)
		__atomic_fetch_add(&total, 256, __ATOMIC_SEQ_CST);
	return 0;
}

static long stop(const char *name)
{
	static int slot;
	struct text text = { { 0 } };
	strcpy(text.text, name);
	if (!slot)
		slot = portal_open("/init/stop");
	return call(slot, (long)text.text, 0, 0, 0, 0);
}

int main(void)
{
	EXPECT(portal_register("/program/did", "npci", 0, did), 0);
	CHECK(start_component("steady") > 0);
	int steady = open_of("/test/steady", "report");
	int record = offered("/test/server", "nm=ci", 4711, RECORD);
	int lives = 0, stuck = 0;
	long steps = call(steady, 0, 0, 0, 0, 0);
	while (total < CALLS && lives < 2000) {
		long asid = start_component("adversary");
		if (!CHECK(asid > 0))
			break;
		lives++;
		/* Until it ends, or makes no progress for 40 ms: it may wait for something that never comes. */
		long before = -1;
		for (int quiet = 0; domain_alive(asid) && total < CALLS && quiet < 4;) {
			hrsleep(hrtime() + 5000000);
			quiet = total == before ? quiet + 1 : 0;
			before = total;
		}
		if (domain_alive(asid)) {
			stuck++;
			CHECK(stop("adversary") >= 0 || !domain_alive(asid));
		}
		CHECK(domain_ended(asid));
		/* The others, after every life. */
		EXPECT(call(steady, 1, 0, 0, 0, 0), 0);
		EXPECT(call(record, 5, 6, 7, 8, 9), 77);
		struct record seen = fetched("/test/server");
		EXPECT(seen.x[11], 4711);
		EXPECT(seen.x[12], 6);
	}
	CHECK(total >= CALLS);
	CHECK(call(steady, 0, 0, 0, 0, 0) > steps + 100);
	printf("%d checks failed in %s lives\n", failures, lives > 1 ? "several" : "one");
	fprintf(stderr, "lives %d, stuck %d, calls %ld\n", lives, stuck, total);
	return failures != 0;
}
