/* Windows of windows through three domains, several at the same time on one page, all of a stack's window pages in use,
   and windows on pages that a fork shares until one side writes. */
#include "../servers/protocol.h"

#define SERVER "/test/server"
#define OTHER "/test/narrow"
#define PAGE ((long)PEBBLE_PAGE)

static char memory[12 * PEBBLE_PAGE] __attribute__((aligned(4096)));

/* Windows of windows: here -> server -> here, and here -> other server -> server -> here, with one page all the way. */
static int end(int c, char *page, int count)
{
	(void)c;
	int total = 0;
	for (int i = 0; i < count; i++)
		total += page[i]++;
	return total;
}

/* A slot in `server`'s table to the service called `name`. */
static int slot_in(const char *server, const char *name)
{
	struct text text = { { 0 } };
	strncpy(text.text, name, NAMELEN - 1);
	int open = offered(server, "nmcr", 0, OPEN);
	int slot = call(open, (long)text.text, 0, 0, 0, 0);
	portal_close(open);
	CHECK(slot >= PEBBLE_FIRST_DYNAMIC);
	return slot;
}

static void nested(void)
{
	EXPECT(portal_register("/program/end", "npcwi", 0, end), 0);
	int here = slot_in(SERVER, "/program/end");
	for (int kind = 0; kind < 4; kind++) {
		static const char *const kinds[] = { "nmcwi", "smcwi", "npcwi", "spcwi" };
		int two = offered(SERVER, kinds[kind], here, PASS);
		memset(memory + PAGE, 5, PAGE);
		EXPECT(call(two, (long)memory + PAGE + 100, 50, 0, 0, 0), 250);
		EXPECT(memory[PAGE + 99], 5);
		EXPECT(memory[PAGE + 100], 6);
		EXPECT(memory[PAGE + 149], 6);
		EXPECT(memory[PAGE + 150], 5);
		/* The name that `offered` opened last, for the other server. */
		char name[NAMELEN];
		int number = 1;
		for (; snprintf(name, sizeof name, "%s/%d", SERVER, number + 1), portal_open(name) >= 0; number++)
			;
		snprintf(name, sizeof name, "%s/%d", SERVER, number);
		int three = offered(OTHER, kinds[kind], slot_in(OTHER, name), PASS);
		EXPECT(call(three, (long)memory + PAGE + 100, 50, 0, 0, 0), 300);
		EXPECT(call(three, (long)memory + PAGE + 100, 50, 0, 0, 0), 350);
		EXPECT(memory[PAGE + 149], 8);
		EXPECT(memory[PAGE + 150], 5);
	}
}

/* Two threads in the server at once with windows on one page; each leaves before and after the other. */
static int together, done;
static volatile int answers;

static void beside(void *argument)
{
	for (int i = 0; i < 50; i++)
		answers += call(together, (long)memory + (long)argument, 100, 0, 0, 0) == 100 * 7;
	sem_post(done);
}

static void at_once(void)
{
	done = sem_create(0);
	memset(memory, 7, PAGE);
	together = offered(SERVER, "nmcri", 0, SUM);
	for (long i = 0; i < 4; i++)
		CHECK(thread_create(beside, (void *)(i * 32)) > 0);
	for (int i = 0; i < 4; i++)
		sem_wait(done);
	EXPECT(answers, 200);
}

/* Nested windows of 8 pages on one stack: the third call finds none of the 16 window pages left. */
static int again;
static volatile int deepest;

static long deeper(int c, char *page, int depth)
{
	(void)c;
	deepest = depth;
	return call(again, (long)page, depth + 1, 0, 0, 0);
}

static void exhausted(void)
{
	EXPECT(portal_register("/program/back", "smcw8i", 0, deeper), 0);
	again = portal_open("/program/back");
	EXPECT(deeper(0, memory, 0), -ENOMEM);
	EXPECT(deepest, 2);
	EXPECT(deeper(0, memory, 0), -ENOMEM);
	EXPECT(deepest, 2);
	EXPECT(portal_register("/program/one", "smcwi", 0, deeper), 0);
	again = portal_open("/program/one");
	EXPECT(deeper(0, memory, 0), -ENOMEM);
	EXPECT(deepest, 16);
}

/* After a fork both have the pages until one writes: what a server writes through the child's window is the child's
   alone, and the other way round. */
static int fill, sum, report, told, told_done;

static int tell(int c, int value)
{
	(void)c;
	told = value;
	return sem_post(told_done);
}

static int through(int slot, long p1, long p2, long p3, long p4, long p5)
{
	return call(slot, p1, p2, p3, p4, p5);
}

static void copies(void)
{
	memset(memory, 1, PAGE);
	fill = offered(SERVER, "nmcwii", 0, FILL);
	sum = offered(SERVER, "nmcri", 0, SUM);
	int child_done = sem_create(0), parent_done = sem_create(0);
	told_done = sem_create(0);
	EXPECT(portal_register("/program/tell", "nmci", 0, tell), 0);
	report = portal_open("/program/tell");
	int child = domain_fork(through);
	if (child == 0) {
		int good = call(sum, (long)memory, 64, 0, 0, 0) == 64;
		good += call(fill, (long)memory, 64, 2, 0, 0) == 64;
		good += call(sum, (long)memory, 64, 0, 0, 0) == 128;
		good += memory[0] == 2 && memory[64] == 1;
		sem_post(child_done);
		sem_wait(parent_done);
		good += memory[0] == 2 && memory[128] == 1;
		good += call(sum, (long)memory + 128, 64, 0, 0, 0) == 64;
		call(report, good, 0, 0, 0, 0);
		for (;;)
			sem_wait(parent_done);
	}
	CHECK(child > 0);
	sem_wait(child_done);
	EXPECT(memory[0], 1);
	EXPECT(call(sum, (long)memory, 64, 0, 0, 0), 64);
	EXPECT(call(fill, (long)memory + 128, 64, 3, 0, 0), 64);
	EXPECT(memory[128], 3);
	sem_post(parent_done);
	sem_wait(told_done);
	EXPECT(told, 6);
}

int main(void)
{
	nested();
	at_once();
	exhausted();
	copies();
	return check_end();
}
