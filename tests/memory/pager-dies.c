/* A pager in a domain of its own dies while it is asked: the domain that needed the page ends, others go on, and the
   name leads nowhere from then on. */
#include "../support/check.h"

static long intercept(long slot, long p1, long p2, long p3, long p4, long p5)
{
	return invoke_portal_long(slot, p1, p2, p3, p4, p5);
}

int main(void)
{
	char *region = (char *)(long)-ENOENT;
	for (int i = 0; i < 200 && (long)region == -ENOENT; i++) {
		region = vm_pager(2 * PEBBLE_PAGE, "/pager/mortal", 0);
		sleep_nanoseconds(1000000);
	}
	CHECK(!VM_FAILED(region));
	for (int round = 0; round < 2; round++) {
		int child = domain_fork(intercept);
		if (child == 0) {
			*(volatile char *)region = 1;
			for (;;)
				sleep_nanoseconds(1000000000);
		}
		CHECK(child > 0);
		/* In the second round the pager is dead already. */
		CHECK(domain_ended(child));
	}
	/* Nobody has this name any more; the region itself can still be given back. */
	SAME((long)vm_pager(PEBBLE_PAGE, "/pager/mortal", 0), -ENOENT);
	SAME(vm_unmap(region), 0);
	return checked(7);
}
