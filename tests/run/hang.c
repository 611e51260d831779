/* Waits for a semaphore that nobody posts: the run ends by its time limit, and the report names this line. */
#include <pebble.h>
#include <stdio.h>

static int never;

__attribute__((noinline)) static void wait_here(void)
{
	sem_wait(never);
	puts("unreachable");
}

int main(void)
{
	never = sem_create(0);
	puts("waiting");
	wait_here();
	return 0;
}
