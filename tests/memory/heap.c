/* sbrk grows, shrinks, and stops at the component's limit (64 MiB in systems/default.toml); the program goes on. */
#include <string.h>

#include "../support/check.h"

#define MIB (1l << 20)
#define LIMIT (64 * MIB)

/* The bare portal: the C library's sbrk answers -1 and errno instead. */
static long raw_sbrk(long bytes)
{
	return invoke_portal_long(SYS_SBRK, bytes, 0, 0, 0, 0);
}

int main(void)
{
	printf("start\n");
	long start = raw_sbrk(0);
	CHECK(start > (long)PEBBLE_IMAGE && start < (long)PEBBLE_HEAP_LIMIT);
	SAME(raw_sbrk(10000), start);
	SAME(raw_sbrk(0), start + 10000);
	long before = pages_held();
	memset((void *)start, 1, 10000);
	CHECK(pages_held() >= before + 2);
	/* Back, and again: the pages are new ones. */
	SAME(raw_sbrk(-10000), start + 10000);
	SAME(pages_held(), before);
	SAME(raw_sbrk(10000), start);
	long page = (start + PEBBLE_PAGE - 1) & -PEBBLE_PAGE;
	SAME(*(char *)page, 0);
	SAME(raw_sbrk(-10000), start + 10000);

	/* Beyond the limit, and far beyond it. */
	SAME(raw_sbrk(LIMIT), -ENOMEM);
	SAME(raw_sbrk(1l << 40), -ENOMEM);
	SAME(raw_sbrk(0x7fffffffffffffff), -ENOMEM);
	SAME(raw_sbrk(0), start);
	errno = 0;
	CHECK(sbrk(LIMIT) == (void *)-1);
	SAME(errno, ENOMEM);
	/* Below the heap's start. */
	SAME(raw_sbrk(-PEBBLE_PAGE), -EINVAL);
	SAME(raw_sbrk(-0x7fffffffffffffff), -EINVAL);

	/* Piece by piece until nothing is left; every page can be used, and then given back. */
	long pieces = 0;
	while (raw_sbrk(MIB) >= 0)
		pieces++;
	CHECK(pieces >= 60 && pieces < 64);
	for (long i = 0; i < pieces * MIB; i += PEBBLE_PAGE)
		*(volatile long *)(start + i) = i;
	long wrong = 0;
	for (long i = 0; i < pieces * MIB; i += PEBBLE_PAGE)
		wrong += *(volatile long *)(start + i) != i;
	SAME(wrong, 0);
	/* The same limit holds for regions. */
	SAME((long)vm_map(8 * MIB), -ENOMEM);
	CHECK(malloc(8 * MIB) == NULL);
	SAME(raw_sbrk(-pieces * MIB), start + pieces * MIB);
	SAME(pages_held(), before);
	void *region = vm_map(48 * MIB);
	CHECK(!VM_FAILED(region));
	SAME(raw_sbrk(20 * MIB), -ENOMEM);
	SAME(vm_unmap(region), 0);
	CHECK(raw_sbrk(20 * MIB) == start);
	return checked(9 + 8 + 2 + 4 + 4);
}
