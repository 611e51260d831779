/* Row 8: a portal as a program gets it, by opening a service: name server, reading the specification, finding room,
   generating, verifying, putting it into the table. */
#include "../support/measure.h"

static const char *const specifications[] = { "smcii", "npcwi" };

static int entry(void)
{
	return 0;
}

int main(int argc, char **argv)
{
	measure_start(argc, argv);
	for (int i = 0; i < 2; i++) {
		const char *specification = specifications[i];
		struct measure_record record;
		char name[NAMELEN], figure[NAMELEN];
		snprintf(name, sizeof name, "/program/%s", specification);
		measure_good(name, portal_register(name, specification, 5, entry));
		int slot = measure_good(name, portal_open(name));
		measure_portal(slot, &record);
		if (strcmp(record.name, specification))
			measure_fail(record.name, slot);
		snprintf(figure, sizeof figure, "bytes/%s", specification);
		measure_number(figure, record.values[3]);
		snprintf(figure, sizeof figure, "open/%s", specification);
		MEASURE_EACH(figure, 1, portal_close(slot), slot = portal_open(name));
		measure_good(name, slot);
	}
	return 0;
}
