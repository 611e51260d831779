/* Says of every portal of its domain, and of a child that it interposes on, what the portal manager keeps: specification,
   kind, and the most instructions of call and return that the verifier proved. Its arguments are specifications, each of
   which it offers and opens; a stub with a stack of its own (`n.=`) it puts into the child's table. Run by tools/pebble/tests/verified.rs. */
#include <string.h>

#include "../support/check.h"

static long entry(void)
{
	return 0;
}

static void list(int asid, int first)
{
	struct information record;
	for (int slot = first; slot < NPORTALS; slot++)
		if (system_info(INFO_PORTAL, asid * NPORTALS + slot, &record) == 0)
			printf("%s %lu %lu\n", record.name, record.values[4], record.values[5]);
}

int main(int argc, char **argv)
{
	int child = domain_fork(entry);
	if (child < 0)
		return 2;
	if (child == 0)
		for (;;)
			; /* its table is what matters */
	int place = PEBBLE_FIRST_DYNAMIC + 100;
	for (int i = 1; i < argc; i++) {
		char name[NAMELEN];
		int result;
		snprintf(name, sizeof name, "/program/%d", i);
		if (argv[i][0] == 'n' && argv[i][2] == '=') {
			result = portal_create_child(child, place++, argv[i], 0, entry);
		} else {
			result = portal_register(name, argv[i], 0x12345678, entry);
			if (result >= 0)
				result = portal_open(name);
		}
		if (result < 0)
			printf("%s is refused: %d\n", argv[i], result);
	}
	sem_create(0);
	list(get_asid(), 0);
	list(child, 0);
	return 0;
}
