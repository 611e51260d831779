/* After domain_fork parent and child have the same memory; then neither sees what the other writes, and each pays
   for the pages that it writes to. */
#include <string.h>

#include "../support/check.h"

#define PAGES 64
static char data[PAGES][PEBBLE_PAGE] __attribute__((aligned(4096)));
static char *heap, *region;

/* Every portal of the child as if it had invoked it itself. */
static long intercept(long slot, long p1, long p2, long p3, long p4, long p5)
{
	return invoke_portal_long(slot, p1, p2, p3, p4, p5);
}

static int differ(char letter)
{
	int wrong = 0;
	for (int i = 0; i < PAGES; i++)
		wrong += data[i][i] != letter || heap[i * PEBBLE_PAGE] != letter || region[i * PEBBLE_PAGE] != letter;
	return wrong;
}

static void fill(char letter)
{
	for (int i = 0; i < PAGES; i++)
		data[i][i] = heap[i * PEBBLE_PAGE] = region[i * PEBBLE_PAGE] = letter;
}

int main(void)
{
	heap = malloc((PAGES + 1) * PEBBLE_PAGE);
	region = vm_map(PAGES * PEBBLE_PAGE);
	/* What the child does is told by semaphores, which both have. */
	int child_looked = sem_create(0), parent_wrote = sem_create(0), child_wrote = sem_create(0), end = sem_create(0);
	CHECK(heap && !VM_FAILED(region));
	fill('p');
	char local[3] = "pp";
	SAME(stack_add(PEBBLE_QUEUE_STACKS), 0); /* domain_fork would add them, and their pages */
	printf("forking\n");
	long held = pages_held(), free_before = information(INFO_MEMORY, 0, 0);
	int child = domain_fork(intercept);
	if (child == 0) {
		int good = differ('p') == 0 && strcmp(local, "pp") == 0;
		sem_post(child_looked);
		sem_wait(parent_wrote);
		good += differ('p') == 0 && strcmp(local, "pp") == 0;
		fill('c');
		local[0] = 'c';
		good += differ('c') == 0;
		/* Three times good: let the parent go on. Otherwise it waits, and the run is reported as hanging. */
		if (good == 3)
			sem_post(child_wrote);
		sem_wait(end);
		for (;;)
			yield();
	}
	CHECK(child > 0);
	sem_wait(child_looked);
	/* The copy costs page tables and records, not pages: far less than the 192 pages of data. */
	long cost = free_before - information(INFO_MEMORY, 0, 0);
	CHECK(cost < 60);
	SAME(pages_held(), held);
	CHECK(information(INFO_DOMAIN, child, 4) >= 3 * PAGES);
	fill('P');
	local[1] = 'P';
	/* Now there are two of each. */
	CHECK(free_before - information(INFO_MEMORY, 0, 0) >= cost + 3 * PAGES);
	sem_post(parent_wrote);
	sem_wait(child_wrote);
	SAME(differ('P'), 0);
	SAME(strcmp(local, "pP"), 0);
	SAME(information(INFO_DOMAIN, child, 1), get_asid());
	SAME(domain_kill(child), 0);
	CHECK(domain_kill(child) < 0);
	/* Its thread is still in our sem_wait; when that call has returned, all of its memory is free. */
	CHECK(information(INFO_MEMORY, 0, 0) < free_before - PAGES);
	SAME(sem_post(end), 0);
	long left = 0;
	for (int i = 0; i < 100 && left < free_before; i++) {
		sleep_nanoseconds(10000000);
		left = information(INFO_MEMORY, 0, 0);
	}
	if (left < free_before)
		printf("%ld pages missing\n", free_before - left);
	CHECK(left >= free_before);
	SAME(differ('P'), 0);
	return checked(16);
}
