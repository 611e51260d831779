/* A program that is the pager of its child: faults of a region in the child are answered by a portal of the parent. */
#include <pebble.h>
#include <string.h>

#include "check.h"

#define PAGES 4

static char pages[PAGES][PEBBLE_PAGE] __attribute__((aligned(4096)));
static int faults, writes, supplied = 1;

static long pager(long constant, long cookie, int asid, uintptr_t address, long access)
{
	uintptr_t page = address / PEBBLE_PAGE % PAGES;
	if (constant != 5 || cookie != 77)
		return -EINVAL;
	if (page == PAGES - 1)
		return -EFAULT; /* the last page does not exist */
	faults++;
	writes += access == PAGER_WRITE;
	supplied = vm_supply(asid, (void *)(address & -PEBBLE_PAGE), pages[page], PAGER_SUPPLY_WRITE);
	return supplied;
}

static int intercept(int slot, int p1, int p2, int p3, int p4, int p5)
{
	if (slot == SYS_EXIT) {
		printf("faults %d, writes %d, supplied %d, page 0: %s\n", faults, writes, supplied, pages[0]);
	}
	return invoke_portal(slot, p1, p2, p3, p4, p5);
}

int main(void)
{
	for (int i = 0; i < PAGES; i++)
		sprintf(pages[i], "page %d", i);
	CHECK(portal_register("/pager/own", PAGER_SPECIFICATION, 5, pager) == 0);
	int child = domain_fork(intercept);
	CHECK(child >= 0);
	if (child > 0)
		for (;;)
			sem_wait(sem_create(0));

	/* The child. */
	memset(pages, 0, sizeof pages);
	char *region = vm_pager(2 * PAGES * PEBBLE_PAGE, "/pager/own", 77);
	CHECK(!VM_FAILED(region));
	region = (char *)(((uintptr_t)region + PAGES * PEBBLE_PAGE - 1) & -(uintptr_t)(PAGES * PEBBLE_PAGE));
	CHECK(!strcmp(region + PEBBLE_PAGE, "page 1"));
	CHECK(!strcmp(region + 2 * PEBBLE_PAGE, "page 2"));
	strcpy(region, "written by the child");
	CHECK(!strcmp(region + PEBBLE_PAGE, "page 1"));
	return 0;
}
