/* One domain, ranges with different fault handlers: two user-level ones and the VM server's own. Each gets exactly the faults
   of its ranges, and the end of one harms only those who touch a page that is its to give. */
#include "../support/check.h"
#include "counting-pager.h"

#define PAGES 8
#define MORE 12

static long intercept(long slot, long p1, long p2, long p3, long p4, long p5)
{
	return invoke_portal_long(slot, p1, p2, p3, p4, p5);
}

static char *region_of(const char *pager, int pages, long cookie)
{
	char *region = (char *)(long)-ENOENT;
	/* It may not have its name yet. */
	for (int i = 0; i < 200 && (long)region == -ENOENT; i++) {
		region = vm_pager(pages * PEBBLE_PAGE, pager, cookie);
		sleep_nanoseconds(1000000);
	}
	CHECK(!VM_FAILED(region));
	return region;
}

/* The page came from this handler, as its `number`th, for this fault. */
static void from(char *page, int mark, long number, long access, long cookie)
{
	volatile struct given *given = (volatile struct given *)page;
	SAME(given->mark, mark);
	SAME(given->number, number);
	SAME(given->address, (long)page);
	SAME(given->access, access);
	SAME(given->cookie, cookie);
}

/* A copy of this domain that waits for `go`, touches a page, and says so, if it still can. */
static int toucher(char *page, int go, int done)
{
	int child = domain_fork(intercept);
	if (child == 0) {
		sem_wait(go);
		(void)*(volatile char *)page;
		sem_post(done);
		for (;;)
			sleep_nanoseconds(1000000000);
	}
	CHECK(child > 0);
	return child;
}

int main(void)
{
	char *first = region_of("/pager/first", MORE, 1);
	char *plain = vm_map(MORE * PEBBLE_PAGE);
	char *second = region_of("/pager/second", MORE, 2);
	char *third = region_of("/pager/first", PAGES, 3);
	char *fatal = region_of("/pager/first", PAGES, FATAL);
	CHECK(!VM_FAILED(plain));

	/* Faults in turn, and no page twice: the numbers have no gap. */
	for (int i = 0; i < PAGES; i++) {
		long at = i * PEBBLE_PAGE;
		from(first + at, 'A', i + 1, PAGER_READ, 1);
		SAME(*(volatile long *)(plain + at), 0);
		*(volatile long *)(second + at) = 'B';
		from(second + at, 'B', i + 1, PAGER_WRITE, 2);
	}
	for (int i = 0; i < PAGES; i++) {
		long at = i * PEBBLE_PAGE;
		from(third + at, 'A', PAGES + i + 1, PAGER_READ, 3);
		/* What is there does not fault again. */
		from(first + at, 'A', i + 1, PAGER_READ, 1);
		from(second + at, 'B', i + 1, PAGER_WRITE, 2);
		*(volatile long *)(plain + at) = i;
	}

	/* The first handler ends when a copy touches `fatal`: that copy ends, as does another one that needs it. */
	int go[4], done = sem_create(0), children[4];
	char *touched[4] = { fatal, first + PAGES * PEBBLE_PAGE, second + PAGES * PEBBLE_PAGE, plain + PAGES * PEBBLE_PAGE };
	for (int i = 0; i < 4; i++) {
		go[i] = sem_create(0);
		children[i] = toucher(touched[i], go[i], done);
	}
	for (int i = 0; i < 2; i++) {
		SAME(sem_post(go[i]), 0);
		CHECK(domain_ended(children[i]));
	}
	/* The others do not notice. */
	for (int i = 2; i < 4; i++) {
		SAME(sem_post(go[i]), 0);
		SAME(sem_wait(done), 0);
		CHECK(domain_alive(children[i]));
		SAME(domain_kill(children[i]), 0);
	}
	/* Neither does this domain, which has ranges of all three, while it stays off what nobody gives any more. */
	from(first, 'A', 1, PAGER_READ, 1);
	from(second + (PAGES + 1) * PEBBLE_PAGE, 'B', PAGES + 2, PAGER_READ, 2);
	SAME(*(volatile long *)(plain + (PAGES + 1) * PEBBLE_PAGE), 0);
	SAME((long)vm_pager(PEBBLE_PAGE, "/pager/first", 0), -ENOENT);
	return checked(241);
}
