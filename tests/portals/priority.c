/* A traversal makes no scheduling decision: the thread goes on in the invoked domain, at its own priority, whatever the
   callee's component runs at; and nobody else's turn comes because of a call. */
#include "../servers/protocol.h"

enum { CALLS = 300 };

static int look, quick, together, begin, done;
static volatile int number, answer;
static volatile long counter, at_once = -1, after_yield = -1;

/* The calling thread's record, as the server sees it while it executes there. */
static struct info inside(void)
{
	static struct info record;
	memset(&record, 0, sizeof record);
	EXPECT(call(look, (long)&record, 0, 0, 0, 0), 0);
	return record;
}

static void goes_in(void *argument)
{
	EXPECT(thread_priority((long)argument), 0);
	number = get_thread();
	answer = call(together, 2, 0, 0, 0, 0);
	sem_post(done);
}

/* One of two equal threads: it only counts. */
static void counts(void *argument)
{
	(void)argument;
	thread_priority(10);
	sem_wait(begin);
	while (after_yield < 0)
		counter++;
	sem_post(done);
}

/* The other: calls again and again within its turn. */
static void calls(void *argument)
{
	(void)argument;
	thread_priority(10);
	sem_wait(begin);
	/* A turn of its own begins here: the other one's has just ended. */
	yield();
	long before = counter;
	for (int i = 0; i < CALLS; i++)
		call(quick, 0, 0, 0, 0, 0);
	at_once = counter - before;
	yield();
	after_yield = counter - before;
	sem_post(done);
}

int main(void)
{
	long server = 0, own = get_asid();
	done = sem_create(0);
	begin = sem_create(0);
	look = offered("/test/server", "nmcw", 0, LOOK);
	quick = offered("/test/server", "nmci", 0, RECORD);
	together = offered("/test/server", "nmci", 0, TOGETHER);
	CHECK(look > 0 && quick > 0 && together > 0);
	struct info record;
	for (int asid = 1; asid < 128; asid++)
		if (system_info(INFO_DOMAIN, asid, &record) == 0 && !strcmp(record.name, "server"))
			server = asid;
	CHECK(server > 0 && server != own);

	/* Inside it is the same thread, of the same home, at the priority that it has outside: above the server's own,
	   equal to it, and below it. */
	static const int priorities[] = { 24, 20, 7, 1 };
	for (int i = 0; i < 4; i++) {
		EXPECT(thread_priority(priorities[i]), 0);
		record = inside();
		EXPECT(record.values[0], get_thread());
		EXPECT(record.values[1], own);
		EXPECT(record.values[3], priorities[i]);
		EXPECT(system_info(INFO_THREAD, get_thread(), &record), 0);
		EXPECT(record.values[3], priorities[i]);
	}

	/* Seen from outside: it is in the server's domain, and there at its own priority. */
	for (int i = 0; i < 4; i++) {
		/* This thread sleeps until the other one waits in the server. */
		EXPECT(thread_priority(25), 0);
		CHECK(thread_create(goes_in, (void *)(long)priorities[i]) > 0);
		hrsleep(hrtime() + 2000000);
		EXPECT(system_info(INFO_THREAD, number, &record), 0);
		EXPECT(record.values[1], own);
		EXPECT(record.values[2], server);
		EXPECT(record.values[3], priorities[i]);
		EXPECT(call(together, 2, 0, 0, 0, 0), 2);
		sem_wait(done);
		EXPECT(answer, 1);
	}

	/* Hundreds of calls later the equal thread has not had one turn; it gets it when this one yields. */
	CHECK(thread_create(counts, NULL) > 0);
	CHECK(thread_create(calls, NULL) > 0);
	hrsleep(hrtime() + 2000000);
	sem_post(begin);
	sem_post(begin);
	sem_wait(done);
	sem_wait(done);
	EXPECT(at_once, 0);
	CHECK(after_yield > 0);
	return check_end();
}
