/* Pages are zero at first, and are there only once they are touched. */
#include <string.h>

#include "../support/check.h"

#define PAGES 300

static unsigned char nothing[PEBBLE_PAGE * 40] __attribute__((aligned(4096)));

static long all_zero(const unsigned char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (bytes[i])
			return 0;
	return 1;
}

int main(void)
{
	printf("the console is open now\n"); /* so that its pages are counted already */
	/* Pages of code that is not in the image page by page count as well, at their first use. */
	SAME(vm_unmap(vm_map(1)), 0);
	long before = pages_held();
	CHECK(before > 0);
	unsigned char *region = vm_map(PAGES * PEBBLE_PAGE);
	CHECK(!VM_FAILED(region));
	SAME((uintptr_t)region % PEBBLE_PAGE, 0);
	SAME(pages_held(), before);
	/* One page for each page touched, by reading as by writing. */
	for (int i = 0; i < PAGES; i += 3)
		CHECK(i % 2 ? region[i * PEBBLE_PAGE + i] == 0 : (region[i * PEBBLE_PAGE + i] = i % 251, 1));
	SAME(pages_held(), before + PAGES / 3);
	memset(region, 0xaa, PAGES * PEBBLE_PAGE);
	SAME(pages_held(), before + PAGES);
	SAME(vm_unmap(region), 0);
	SAME(pages_held(), before);

	/* The pages just given back hold 0xaa: nobody sees that. */
	region = vm_map(PAGES * PEBBLE_PAGE);
	CHECK(!VM_FAILED(region));
	CHECK(all_zero(region, PAGES * PEBBLE_PAGE));
	SAME(vm_unmap(region), 0);

	/* Uninitialised data is zero and costs nothing until used. */
	before = pages_held();
	CHECK(all_zero(nothing, sizeof nothing));
	SAME(pages_held(), before + 40);
	/* A piece of a page is a page. */
	before = pages_held();
	unsigned char *small = vm_map(1);
	small[PEBBLE_PAGE - 1] = 1;
	SAME(pages_held(), before + 1);
	/* Its neighbour is not ours: the start of another region, not the rest of this one. */
	unsigned char *next = vm_map(2 * PEBBLE_PAGE);
	CHECK(next >= small + PEBBLE_PAGE || next + 2 * PEBBLE_PAGE <= small);
	SAME(vm_unmap(next), 0);
	SAME(vm_unmap(small), 0);

	/* What is no region's start cannot be given back. */
	region = vm_map(3 * PEBBLE_PAGE);
	SAME(vm_unmap(region + PEBBLE_PAGE), -EINVAL);
	SAME(vm_unmap(region + 1), -EINVAL);
	SAME(vm_unmap(NULL), -EINVAL);
	SAME(vm_unmap(main), -EINVAL);
	SAME(vm_unmap(&before), -EINVAL);
	SAME(vm_unmap((void *)-1l), -EINVAL);
	SAME(vm_unmap(region), 0);
	SAME(vm_unmap(region), -EINVAL);
	/* Nothing, and more than there can be. */
	SAME((long)vm_map(0), -EINVAL);
	SAME((long)vm_map(0x30000000), -ENOMEM);
	SAME((long)vm_map((size_t)-1), -ENOMEM);
	return checked(5 + 100 + 4 + 3 + 2 + 4 + 8 + 3);
}
