/* What the system says about its memory: argument 1 is the machine's memory in MiB. */
#include "../support/check.h"

int main(int argc, char **argv)
{
	long megabytes = argc > 1 ? atol(argv[1]) : 0;
	struct information record;
	SAME(system_info(INFO_MEMORY, 0, &record), 0);
	long free_pages = record.values[0], pages = record.values[1], resident = record.values[4],
	     discarded = record.values[5];
	/* All but firmware, nucleus objects, bundle and the VM server's records: less than 16 MiB in any machine. */
	CHECK(pages < megabytes * 256 && pages > megabytes * 256 - megabytes / 2 - 4096);
	CHECK(free_pages < pages && pages - free_pages < 300);
	CHECK(resident > 0 && resident <= 4096);
	CHECK(discarded > 0 && discarded < 512);
	/* A tenth of what is free can be used, and comes back. */
	size_t bytes = (free_pages > 100000 ? 10000 : free_pages / 10) * PEBBLE_PAGE;
	char *region = vm_map(bytes);
	CHECK(!VM_FAILED(region));
	for (size_t at = 0; at < bytes; at += PEBBLE_PAGE)
		region[at] = 1;
	CHECK(information(INFO_MEMORY, 0, 0) <= free_pages - (long)(bytes / PEBBLE_PAGE));
	SAME(vm_unmap(region), 0);
	CHECK(information(INFO_MEMORY, 0, 0) >= free_pages - 30);
	SAME(system_info(INFO_MEMORY, 1, &record), -EINVAL);
	SAME(system_info(99, 0, &record), -EINVAL);
	return checked(11);
}
