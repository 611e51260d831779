/* Maps the region that the example pager keeps, and counts in it: each run of the program finds what the one before
   left. Needs the component `pager`, and the right to open /pager/shared. */
#include <pebble.h>

#define REGION (16 * PEBBLE_PAGE)

int main(void)
{
	void *mapped = vm_pager(2 * REGION, PAGER_SHARED, 0);
	if (VM_FAILED(mapped)) {
		fprintf(stderr, "vm_pager: error %ld; is the component `pager` part of the system?\n", (long)mapped);
		return 1;
	}
	/* The aligned part shows page k where k belongs. */
	volatile unsigned *counter = (void *)(((uintptr_t)mapped + REGION - 1) & -(uintptr_t)REGION);
	unsigned before = *counter;
	*counter = before + 1;
	printf("counter %u, then %u\n", before, *counter);
	int result = vm_unmap(mapped);
	if (result < 0)
		fprintf(stderr, "vm_unmap: error %d\n", result);
	return result < 0;
}
