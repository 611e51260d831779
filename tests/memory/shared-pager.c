/* A user-level pager keeps one region in its own memory and shows it to all clients: what one region of ours
   writes, another region of the same pager reads; a page is charged when it is there. */
#include <string.h>

#include "../support/check.h"

#define REGION (16 * PEBBLE_PAGE)

static long intercept(long slot, long p1, long p2, long p3, long p4, long p5)
{
	return invoke_portal_long(slot, p1, p2, p3, p4, p5);
}

/* The part in which page k of the pager is page k (components/examples/pager). */
static char *aligned(void *mapped)
{
	return (char *)(((uintptr_t)mapped + REGION - 1) & -(uintptr_t)REGION);
}

int main(void)
{
	/* The pager registers while we start. */
	void *mapped = NULL;
	for (int i = 0; i < 100; i++) {
		mapped = vm_pager(2 * REGION, PAGER_SHARED, 0);
		if ((long)mapped != -ENOENT)
			break;
		sleep_nanoseconds(1000000);
	}
	CHECK(!VM_FAILED(mapped));
	void *again = vm_pager(2 * REGION, PAGER_SHARED, 0);
	CHECK(!VM_FAILED(again) && again != mapped);
	char *one = aligned(mapped), *other = aligned(again);
	SAME(stack_add(PEBBLE_QUEUE_STACKS), 0); /* domain_fork would add them, and their pages */
	printf("mapped\n");
	long held = pages_held();
	for (int page = 0; page < 16; page++)
		SAME(one[page * PEBBLE_PAGE], 0);
	SAME(pages_held(), held + 16);
	for (int page = 0; page < 16; page++)
		snprintf(one + page * PEBBLE_PAGE + 100, 32, "page %d", page);
	for (int page = 0; page < 16; page++) {
		char expected[32];
		snprintf(expected, sizeof expected, "page %d", page);
		SAME(strcmp(other + page * PEBBLE_PAGE + 100, expected), 0);
	}
	/* Another domain: the child asks the pager anew, and sees the same pages, not a copy. */
	int wrote = sem_create(0);
	int child = domain_fork(intercept);
	if (child == 0) {
		strcpy(one + 200, "from the child");
		sem_post(wrote);
		for (;;)
			yield();
	}
	sem_wait(wrote);
	SAME(strcmp(other + 200, "from the child"), 0);
	SAME(domain_kill(child), 0);
	SAME(vm_unmap(mapped), 0);
	/* It is the pager's memory: still there when nobody maps it. */
	SAME(strcmp(other + 5 * PEBBLE_PAGE + 100, "page 5"), 0);
	SAME(vm_unmap(again), 0);
	SAME(pages_held(), held);
	again = vm_pager(2 * REGION, PAGER_SHARED, 0);
	SAME(strcmp(aligned(again) + 5 * PEBBLE_PAGE + 100, "page 5"), 0);
	/* Refusals. */
	SAME((long)vm_pager(0, PAGER_SHARED, 0), -EINVAL);
	SAME((long)vm_pager(PEBBLE_PAGE, "/pager/nobody", 0), -ENOENT);
	SAME((long)vm_pager(PEBBLE_PAGE, "/console/write", 0), -EACCES);
	static char page[PEBBLE_PAGE] __attribute__((aligned(4096)));
	SAME(vm_supply(get_asid(), again, page, 0), -EPERM);
	return checked(3 + 17 + 16 + 7 + 4);
}
