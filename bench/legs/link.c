/* A member of the chain: the last one answers, every other calls the next in the same way. Argument: its place. */
#include "links.h"

/* The constant of a link that is not the last is the slot that leads to the next one. */
static int forward(int next, long p1, long p2, long p3)
{
	return invoke_portal(next, p1, p2, p3, 0, 0);
}

static int answer(void)
{
	return 0;
}

static int write_first(int constant, volatile long *window)
{
	(void)constant;
	*window = 1;
	return 0;
}

/* A word in every page. */
static int write_each(int pages, volatile char *window)
{
	for (int i = 0; i < pages; i++)
		window[i * PEBBLE_PAGE] = 1;
	return 0;
}

static void offer(int place, const char *how, const char *specification, long constant, portal_entry entry)
{
	char name[NAMELEN];
	link_name(name, place, how, specification);
	measure_good(name, portal_register(name, specification, constant, entry));
}

static int pages(const char *specification)
{
	return specification[4] == 'i' ? 1 : specification[4] - '0';
}

int main(int argc, char **argv)
{
	int place = argc > 1 ? atoi(argv[1]) : 0;
	for (int i = 0; i < CHAINED; i++) {
		if (place < LINKS)
			offer(place, "", chained[i], link_open(place + 1, "", chained[i]), forward);
		else
			offer(place, "", chained[i], 0, answer);
	}
	if (place == LINKS) {
		offer(place, "written/", "smcwii", 0, write_first);
		offer(place, "written/", "npcwii", 0, write_first);
		for (int i = 0; i < SINGLE; i++) {
			offer(place, "", single[i], 0, answer);
			offer(place, "written/", single[i], pages(single[i]), write_each);
		}
	}
	for (;;)
		sem_wait(sem_create(0));
}
