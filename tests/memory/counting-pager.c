/* A pager that writes into each page who gave it, as which one, and what it was asked. */
#include <pebble.h>

#include "counting-pager.h"

#define MOST 64

static char pages[MOST][PEBBLE_PAGE] __attribute__((aligned(4096)));
static long given;

static long fault(long mark, long cookie, int asid, long address, long access)
{
	if (cookie == FATAL)
		exit(1);
	if (given == MOST)
		return -ENOMEM;
	struct given *page = (struct given *)pages[given++];
	*page = (struct given){ mark, given, address, access, cookie };
	return vm_supply(asid, (void *)address, page, PAGER_SUPPLY_WRITE);
}

int main(int argc, char **argv)
{
	if (argc < 3 || portal_register(argv[1], PAGER_SPECIFICATION, argv[2][0], fault) < 0)
		return 1;
	for (;;)
		sem_wait(sem_create(0));
}
