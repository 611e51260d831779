/* The component that row 10 replaces while it is in use: one service, which answers with how often it was called. */
#include <pebble.h>

static int calls;

static int serve(void)
{
	return ++calls;
}

int main(void)
{
	if (portal_register("/bench/service", "nmc", 0, serve) < 0)
		return 1;
	for (;;)
		sem_wait(sem_create(0));
}
