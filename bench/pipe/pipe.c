/* Row 5: one byte round a ring of pipes between 1, 2, 4, 8 domains, the pipe's own cost, and bandwidth.

   Pipe i leads from member i - 1 to member i; a pipe belongs to two domains, so each member makes the one that leads
   to it. All share one portal table: whoever opens a pipe's portals notes their slots with the program, where the
   neighbour asks for them. A ring ends as a pipeline does: each member that finds its pipe closed closes the next. */
#include "../support/ring.h"

enum what { READ, WRITE, CLOSE, WHATS };
static const char *const names[WHATS] = { "read", "write", "close" };

static int slots[RING_MOST][WHATS]; /* in the program's memory alone */
static int board;                   /* slot of the portal to `note` */
static int ready;                   /* V by every member that has its pipe */
static int begin;                   /* V for every member when all pipes are there */
static char token[1];
static char block[PEBBLE_PAGE] __attribute__((aligned(PEBBLE_PAGE)));

/* Keeps a slot when it is given one, answers it otherwise. */
static int note(int constant, int place, enum what what, int slot)
{
	(void)constant;
	if (slot)
		slots[place][what] = slot;
	return slots[place][what];
}

static int ask(int place, enum what what)
{
	return measure_good("ask", invoke_portal(board, place % ring_size, what, 0, 0, 0));
}

static int create(int peer)
{
	int slot = measure_good(PIPE_CREATE, portal_open(PIPE_CREATE));
	int number = measure_good("pipe", invoke_portal(slot, peer, 0, 0, 0, 0));
	portal_close(slot);
	return number;
}

/* Makes the pipe that leads from `peer` here, to `place`. */
static void make(int place, int peer)
{
	int number = create(peer);
	for (enum what what = READ; what < WHATS; what++) {
		char name[NAMELEN];
		snprintf(name, sizeof name, "/pipe/%d/%s", number, names[what]);
		int slot = measure_good(name, portal_open(name));
		measure_good("note", invoke_portal(board, place, what, slot, 0, 0));
	}
}

static long transfer(int slot, const char *bytes, long count)
{
	return measure_good("a pipe's end", invoke_portal(slot, (long)bytes, count, 0, 0, 0));
}

static void finish(int slot, int end)
{
	measure_good("closing a pipe", invoke_portal(slot, end, 0, 0, 0, 0));
}

static void member(void)
{
	make(ring_place, ring_domain[ring_place - 1]);
	sem_post(ready);
	sem_wait(begin);
	int left = ask(ring_place, READ), right = ask(ring_place + 1, WRITE);
	while (transfer(left, token, 1) > 0)
		transfer(right, token, 1);
	finish(ask(ring_place, CLOSE), PIPE_READING_END);
	finish(ask(ring_place + 1, CLOSE), PIPE_WRITING_END);
	for (;;)
		sem_wait(begin + 2); /* ended by the program */
}

static void ring(int size)
{
	char name[32];
	sprintf(name, "ring/%d", size);
	ring_make(size, member);
	for (int i = 1; i < size; i++)
		sem_wait(ready);
	make(0, size == 1 ? 0 : ring_domain[size - 1]);
	for (int i = 1; i < size; i++)
		sem_post(begin);
	int left = ask(0, READ), right = ask(1, WRITE);
	MEASURE(name, size, transfer(right, token, 1); transfer(left, token, 1));
	finish(ask(1, CLOSE), PIPE_WRITING_END);
	if (size > 1 && transfer(left, token, 1) != 0)
		measure_fail("the end of the ring", 1);
	finish(ask(0, CLOSE), PIPE_READING_END);
	for (int place = 0; place < size; place++)
		for (enum what what = READ; what < WHATS; what++)
			portal_close(slots[place][what]);
	ring_end();
}

/* Takes whole blocks for as long as they come. */
static void sink(void)
{
	make(1, ring_domain[0]);
	sem_post(ready);
	int left = ask(1, READ);
	while (transfer(left, block, sizeof block) > 0)
		;
	for (;;)
		sem_wait(begin + 2);
}

static void bandwidth(void)
{
	ring_make(2, sink);
	sem_wait(ready);
	int right = ask(1, WRITE);
	MEASURE("write-4096", 1, transfer(right, block, sizeof block));
	ring_end();
}

int main(int argc, char **argv)
{
	measure_start(argc, argv);
	memset(block, 1, sizeof block);
	measure_good("portal_register", portal_register("/program/board", "nmciii", 0, note));
	board = measure_good("portal_open", portal_open("/program/board"));
	ready = measure_good("sem_create", sem_create(0));
	begin = measure_good("sem_create", sem_create(0));
	measure_good("sem_create", sem_create(0));
	for (int size = 1; size <= RING_MOST; size *= 2)
		ring(size);
	bandwidth();
	return 0;
}
