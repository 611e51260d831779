/* Row 1: portals that do their work themselves and return at once: the equivalent of a null system call. */
#include "../support/measure.h"

int main(int argc, char **argv)
{
	measure_start(argc, argv);
	measure_good("get_asid", get_asid());
	MEASURE("get_asid", 1, get_asid());
	MEASURE("get_thread", 1, get_thread());
	MEASURE("hrtime", 1, hrtime());
	if (invoke_portal(NPORTALS - 1, 0, 0, 0, 0, 0) != -ENOSYS)
		measure_fail("an empty slot", 0);
	/* A slot without a portal answers from the nucleus alone: what a portal call costs at the least. */
	MEASURE("empty", 1, invoke_portal(NPORTALS - 1, 0, 0, 0, 0, 0));
	return 0;
}
