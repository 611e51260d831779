/* A pager that ends at the first fault that it is asked about. */
#include <pebble.h>

static long fault(void)
{
	invoke_portal(SYS_EXIT, 0, 0, 0, 0, 0);
	return 0;
}

int main(void)
{
	if (portal_register("/pager/mortal", PAGER_SPECIFICATION, 0, fault) < 0)
		return 1;
	for (;;)
		sem_wait(sem_create(0));
}
