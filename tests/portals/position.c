/* A refused specification: the program gets -EINVAL, people get the position and the reason. */
#include <pebble.h>
#include <stdio.h>

static int entry(int slot)
{
	return slot;
}

int main(void)
{
	printf("%d\n", portal_register("/program/letter", "nmcq", 0, entry));
	printf("%d\n", portal_register("/program/many", "nmiiiiiii", 0, entry));
	for (int i = 0; i < 20; i++) /* only the first few are told */
		portal_register("/program/stack", "xm", 0, entry);
	hrsleep(hrtime() + 5000000);
	return 0;
}
