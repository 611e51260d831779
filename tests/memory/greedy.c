/* Takes all memory that the machine has, which is less than its limit; the drivers that have done nothing yet need a
   first page when the system ends. */
#include <pebble.h>

int main(void)
{
	for (;;) {
		volatile char *region = vm_map(1 << 20);
		if (VM_FAILED(region))
			return 1; /* the limit was there first */
		for (long i = 0; i < 1 << 20; i += PEBBLE_PAGE)
			region[i] = 1;
	}
}
