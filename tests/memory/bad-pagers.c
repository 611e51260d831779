/* Pagers that fail their clients: the parent is the pager, answers each child's fault differently, and only that child
   ends. */
#include "../support/check.h"

static char page[PEBBLE_PAGE] __attribute__((aligned(4096)));
static const char constant[PEBBLE_PAGE] __attribute__((aligned(4096))) = { 1 };

static int step, answered;
enum { NO_PAGE, AN_ERROR, WRONG_DOMAIN, WRONG_ADDRESS, NOT_A_PAGE, NOT_MAPPED, NOT_WRITABLE, GOOD, STEPS };
static int results[STEPS];

/* A pager: (constant, cookie, domain, address, access). */
static long pager(long constant_, long cookie, int asid, char *address, int access)
{
	(void)constant_, (void)cookie;
	answered++;
	switch (step) {
	case NO_PAGE:
		return 0; /* says that it is done, but gave nothing */
	case AN_ERROR:
		return -EIO;
	case WRONG_DOMAIN:
		return results[step] = vm_supply(get_asid(), address, page, PAGER_SUPPLY_WRITE);
	case WRONG_ADDRESS:
		return results[step] = vm_supply(asid, address + PEBBLE_PAGE, page, 0);
	case NOT_A_PAGE:
		return results[step] = vm_supply(asid, address, page + 8, 0);
	case NOT_MAPPED:
		return results[step] = vm_supply(asid, address, (void *)0x30000000, 0);
	case NOT_WRITABLE:
		return results[step] = vm_supply(asid, address, (void *)constant, PAGER_SUPPLY_WRITE);
	}
	(void)access;
	return vm_supply(asid, address, page, PAGER_SUPPLY_WRITE);
}

static long intercept(long slot, long p1, long p2, long p3, long p4, long p5)
{
	return invoke_portal_long(slot, p1, p2, p3, p4, p5);
}

int main(void)
{
	page[0] = 42;
	SAME(portal_register("/pager/bad", PAGER_SPECIFICATION, 0, pager), 0);
	char *region = vm_pager(4 * PEBBLE_PAGE, "/pager/bad", 7);
	CHECK(!VM_FAILED(region));
	int lived = sem_create(0);
	for (step = 0; step < STEPS; step++) {
		int child = domain_fork(intercept);
		if (child == 0) {
			if (*(volatile char *)region == 42)
				sem_post(lived);
			for (;;)
				sleep_nanoseconds(1000000000);
		}
		CHECK(child > 0);
		/* A good page lets it live. */
		if (step == GOOD) {
			SAME(sem_wait(lived), 0);
			SAME(domain_kill(child), 0);
		} else {
			CHECK(domain_ended(child));
			CHECK(domain_kill(child) < 0);
		}
	}
	SAME(answered, STEPS);
	SAME(results[WRONG_DOMAIN], -EPERM);
	SAME(results[WRONG_ADDRESS], -EPERM);
	SAME(results[NOT_A_PAGE], -EINVAL);
	SAME(results[NOT_MAPPED], -EFAULT);
	SAME(results[NOT_WRITABLE], -EFAULT);
	return checked(2 + 3 * STEPS + 6);
}
