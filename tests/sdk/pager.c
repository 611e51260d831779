/* A program that is its own pager: faults of a region are answered by a portal of the same domain. */
#include <pebble.h>
#include <string.h>

#include "check.h"

#define PAGES 4

static char pages[PAGES][PEBBLE_PAGE] __attribute__((aligned(4096)));
static char *region;
static int faults, reads;

static long pager(long constant, long cookie, int asid, char *address, long access)
{
	(void)constant;
	if (cookie != 77)
		return -EINVAL;
	long page = (address - region) / (long)PEBBLE_PAGE;
	if (page == PAGES - 1)
		return -EFAULT; /* the last page does not exist */
	faults++;
	reads += access == 0;
	return vm_supply(asid, (void *)((uintptr_t)address & -PEBBLE_PAGE), pages[page], PAGER_SUPPLY_WRITABLE);
}

int main(void)
{
	for (int i = 0; i < PAGES; i++)
		sprintf(pages[i], "page %d", i);
	CHECK(portal_register("/pager/own", PAGER_SPECIFICATION, 0, pager) == 0);
	region = vm_pager(PAGES * PEBBLE_PAGE, "/pager/own", 77);
	CHECK(!VM_FAILED(region));
	CHECK(!strcmp(region + PEBBLE_PAGE, "page 1") && faults == 1 && reads == 1);
	strcpy(region, "written");
	CHECK(faults == 2 && reads == 1);
	CHECK(!strcmp(pages[0], "written")); /* the same page, twice in this domain */
	puts("paged");
	return region[(PAGES - 1) * PEBBLE_PAGE]; /* refused: ends here */
}
