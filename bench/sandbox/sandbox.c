/* Row 9: the paper's appendix program. A child plays semaphore ping-pong while a parent interposes on all its portals.

   Second argument: how many parents lie one above the other; with 0 the program plays by itself. */
#include "../support/measure.h"

static int level;
static volatile int child;

static int intercept(int id, int p1, int p2, int p3, int p4, int p5)
{
	return invoke_portal(id, p1, p2, p3, p4, p5);
}

/* As the paper has it: the child's new portal gets a stub in the same slot, on the caller's stack, with no state kept
   and the letters of the portal itself. */
static int notify(int asid, int id, char *template)
{
	char stub[NAMELEN];
	(void)asid;
	/* The child may run before the fork has answered here. */
	while (child == 0)
		yield();
	snprintf(stub, sizeof stub, "sm=%s", template + 3);
	return portal_create_child(child, id, stub, 0, intercept);
}

static void play(void)
{
	int ping = measure_good("sem_create", sem_create(0));
	int pong = measure_good("sem_create", sem_create(0));
	if (fork() == 0) {
		sem_post(ping);
		for (;;) {
			sem_wait(pong);
			sem_post(ping);
		}
	}
	/* The other thread is there: what follows is the same each time. */
	sem_wait(ping);
	char name[32];
	sprintf(name, "depth/%d", level);
	MEASURE(name, 1, sem_post(pong); sem_wait(ping));
}

int main(int argc, char **argv)
{
	measure_start(argc, argv);
	int depth = argc > 2 ? atoi(argv[2]) : 0;
	while (level < depth) {
		int forever = measure_good("sem_create", sem_create(0));
		measure_good("portal_notify", portal_notify(notify));
		child = 0;
		int made = measure_good("domain_fork", domain_fork(intercept));
		if (made != 0) {
			child = made;
			sem_wait(forever); /* the innermost ends the program */
		}
		level++;
	}
	play();
	exit(0);
}
