/* Switches the machine off, or starts it again, as its argument says. */
#include <pebble.h>
#include <string.h>

int main(int argc, char **argv)
{
	int off = argc > 1 && strcmp(argv[1], "off") == 0;
	int slot = portal_open(off ? POWER_OFF : POWER_RESTART);
	printf("slot %s\n", slot > 0 ? "opened" : "refused");
	invoke_portal(slot, 7, 0, 0, 0, 0);
	return 3;
}
