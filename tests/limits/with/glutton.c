/* Takes as much as it gets of what the test names, tells how much that was and how it was refused, and ends as told. */
#include "../../servers/protocol.h"
#include "../menu.h"

static int tell, never;

static void idle(void *argument)
{
	(void)argument;
	for (;;)
		sem_wait(never);
}

static int entry(void)
{
	return 0;
}

/* Children wait here, the first of them inside, the others for a stack. */
static long hold(void)
{
	return sem_wait(never);
}

/* One more of `what`: a negative error when there is none. */
static long take(int what, int count)
{
	char name[NAMELEN];
	static char *region;
	switch (what) {
	case SEMAPHORES:
		return sem_create(0);
	case PORTALS:
		return portal_open("/program/ate");
	case NAMES:
		snprintf(name, sizeof name, "/test/glutton/%d", count);
		return portal_register(name, "nm", 0, entry);
	case THREADS:
		return thread_create(idle, NULL);
	case STACKS:
		return stack_add(1);
	case ADDRESSES:
		return (long)vm_map(1 << 20);
	case HEAP:
		return call(SYS_SBRK, 1 << 18, 0, 0, 0, 0);
	case PAGES:
		if (count % 64 == 0) {
			region = vm_map(64 * PEBBLE_PAGE);
			if (VM_FAILED(region))
				return (long)region;
		}
		region[count % 64 * PEBBLE_PAGE] = 1;
		return 0;
	case CHILDREN: {
		int child = domain_fork(hold);
		if (child == 0)
			for (;;)
				yield();
		return child;
	}
	default:
		return -EINVAL;
	}
}

int main(void)
{
	int menu = portal_open("/program/menu");
	int ate = portal_open("/program/ate");
	tell = ate;
	never = sem_create(0);
	long order = call(menu, 0, 0, 0, 0, 0);
	for (int what = 0; what < KINDS; what++) {
		if (!(order >> what & 1))
			continue;
		long answer = 0;
		int count = 0;
		int most = order & LITTLE ? 3 : 100000;
		while (count < most && (answer = take(what, count)) >= 0)
			count++;
		call(tell, what, answer < 0 ? answer : 0, count, 0, 0);
	}
	switch (order & WAYS) {
	case WAY_EXIT:
		exit(3);
	case WAY_FAULT:
		__asm__ volatile("unimp");
	}
	for (;;)
		sem_wait(never);
}
