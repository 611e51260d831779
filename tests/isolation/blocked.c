/* A domain that dies while threads wait on its behalf: asleep, for a semaphore, for a stack of a third domain, in a
   call further on. Each comes back with -EOWNERDEAD, and nobody else loses a turn. */
#include "../servers/protocol.h"

#define MORTAL "/test/mortal"
#define NARROW "/test/narrow"
#define MILLISECOND 500000 /* in units of two cycles, with --icount */

static int done, narrow_slowly;
static volatile int started;

struct work {
	int slot;
	long a1, a2;
	long answer;
	unsigned long long end;
};

static void working(void *argument)
{
	struct work *work = argument;
	__atomic_fetch_add(&started, 1, __ATOMIC_SEQ_CST);
	work->answer = call(work->slot, work->a1, work->a2, 0, 0, 0);
	work->end = hrtime();
	sem_post(done);
}

static void begin(struct work *work, int slot, long a1)
{
	int before = started;
	*work = (struct work){ slot, a1, 0, 1, 0 };
	CHECK(thread_create(working, work) > 0);
	while (started == before)
		yield();
	hrsleep(hrtime() + MILLISECOND);
}

static void end_mortal(void)
{
	int die = offered(MORTAL, "smcii", 0, DIE);
	EXPECT(call(die, BY_FAULT, 0, 0, 0, 0), -PEBBLE_EOWNERDEAD);
	portal_close(die);
}

static int slot_in(const char *server, const char *name)
{
	struct text text = { { 0 } };
	strncpy(text.text, name, NAMELEN - 1);
	int open = offered(server, "nmcr", 0, OPEN);
	int slot = call(open, (long)text.text, 0, 0, 0, 0);
	CHECK(slot >= PEBBLE_FIRST_DYNAMIC);
	return slot;
}

int main(void)
{
	struct work asleep, holder, waiter, next, beyond, posted;
	done = sem_create(0);

	/* Asleep in it for a very long time. */
	start_mortal();
	begin(&asleep, offered(MORTAL, "nmci", 0, SLOWLY), 1L << 50);
	unsigned long long killed = hrtime();
	end_mortal();
	sem_wait(done);
	EXPECT(asleep.answer, -PEBBLE_EOWNERDEAD);
	CHECK(asleep.end - killed < 20 * MILLISECOND);

	/* Waiting for a semaphore of its. */
	start_mortal();
	begin(&posted, offered(MORTAL, "npci", 0, TOGETHER), 3);
	end_mortal();
	sem_wait(done);
	EXPECT(posted.answer, -PEBBLE_EOWNERDEAD);

	/* Through it in a third domain, which goes on and returns to where nobody is any more. */
	start_mortal();
	int server_slowly = offered("/test/server", "nmci", 0, SLOWLY);
	(void)server_slowly;
	begin(&beyond, offered(MORTAL, "nmci", slot_in(MORTAL, "/test/server/1"), PASS), 20 * MILLISECOND);
	end_mortal();
	EXPECT(beyond.answer, 1);
	sem_wait(done);
	EXPECT(beyond.answer, -PEBBLE_EOWNERDEAD);

	/* Through it, waiting for the one stack of a third domain; another waits behind it. */
	start_mortal();
	narrow_slowly = offered(NARROW, "nmci", 0, SLOWLY);
	int pass = offered(MORTAL, "nmci", slot_in(MORTAL, NARROW "/1"), PASS);
	begin(&holder, narrow_slowly, 30 * MILLISECOND);
	begin(&waiter, pass, 1);
	begin(&next, narrow_slowly, 1);
	EXPECT(waiter.answer, 1);
	killed = hrtime();
	end_mortal();
	sem_wait(done);
	/* It need not wait for the stack any more. */
	EXPECT(waiter.answer, -PEBBLE_EOWNERDEAD);
	CHECK(holder.answer == 1 && next.answer == 1);
	sem_wait(done);
	sem_wait(done);
	EXPECT(holder.answer, 79);
	EXPECT(next.answer, 79);
	/* And the stack is free. */
	EXPECT(call(narrow_slowly, 1, 0, 0, 0, 0), 79);
	return check_end();
}
