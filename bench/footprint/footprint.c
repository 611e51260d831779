/* Row 11: what the system around this program holds: bytes of privileged code, pages of each domain, and all together.

   The program itself is left out of the sum, as far as it can be told apart: its pages, not what the nucleus keeps about
   its one thread and its tables. */
#include "../support/measure.h"

int main(int argc, char **argv)
{
	struct measure_record memory, domain;
	char name[64];
	(void)argc;
	(void)argv;
	int own = get_asid();
	unsigned long pages = 0;
	for (int i = 0, answer; (answer = system_info(MEASURE_DOMAIN, i, &domain)) != -EINVAL; i++) {
		if (answer < 0 || !(domain.values[6] & 1) || (int)domain.values[0] == own)
			continue;
		snprintf(name, sizeof name, "pages/%s", domain.name);
		measure_number(name, domain.values[4]);
		pages += domain.values[4];
	}
	measure_good("system_info", system_info(MEASURE_MEMORY, 0, &memory));
	unsigned long code = memory.values[2], objects = memory.values[3], nucleus = memory.values[4];
	measure_number("nucleus-bytes", nucleus);
	measure_number("portal-code-bytes", code);
	measure_number("object-pages", objects);
	measure_number("domain-pages", pages);
	unsigned long total = pages + objects + (code + PEBBLE_PAGE - 1) / PEBBLE_PAGE
			      + (nucleus + PEBBLE_PAGE - 1) / PEBBLE_PAGE;
	measure_number("total-pages", total);
	measure_number("total-kib", total * PEBBLE_PAGE / 1024);
	measure_number("boot-pages-discarded", memory.values[5]);
	return 0;
}
