/* Interposition on interposers: each level forks the next and counts what comes from there; the innermost works.
   Argument: how many levels lie above the innermost.

   What the innermost does, as the level above it counts: 2 sem_create (40); 1 thread_create (43, fork); on its first
   semaphore ROUNDS + 1 times P and V, on its second P as often and V ROUNDS times; domain (33) and thread (34) once;
   3 portal_open (46: a server's offer, what it made, the console); 1 portal_close (50); one call of each of these two,
   which had the same slot one after the other; the console once for each of 4 lines; 1 exit (32).
   Every level between adds to what is counted above it: 1 sem_create, 1 portal_notify (48), 1 domain_fork (44),
   8 stack_add (49), 1 P of its semaphore, and a portal_create_child (47) for each portal that appears below: for the
   last of them 4 (semaphores) + 3 (opened) + 1 (the console of the outermost, opened by its first line) = 8, and 2 more
   for each semaphore of a level in between. */
#include "../servers/protocol.h"

#define ROUNDS 100

static int level, waiting;
static volatile int child;
static int count[NPORTALS];

static void dump(void)
{
	for (int i = 1; i < NPORTALS; i++)
		if (count[i])
			printf("portal %d called %d times\n", i, count[i]);
}

static int intercept(int id, int p1, int p2, int p3, int p4, int p5)
{
	count[id]++;
	if (id == SYS_EXIT && level == 0)
		dump();
	return invoke_portal(id, p1, p2, p3, p4, p5);
}

static int notify(int asid, int id, char *template)
{
	char s[NAMELEN];
	(void)asid;
	/* The child may run before the fork has answered here. */
	while (child == 0)
		yield();
	sprintf(s, "sm=%s", template + 3);
	return portal_create_child(child, id, s, 0, intercept);
}

static void work(void)
{
	static unsigned char page[PEBBLE_PAGE] __attribute__((aligned(4096)));
	int first = sem_create(0), second = sem_create(0);
	if (fork() == 0) {
		sem_post(first);
		for (;;) {
			sem_wait(second);
			sem_post(first);
		}
	}
	sem_wait(first);
	for (int i = 0; i < ROUNDS; i++) {
		sem_post(second);
		sem_wait(first);
	}
	int asid = get_asid(), thread = get_thread();
	/* A page through all levels to a server: 1 + 2 + ... */
	long total = 0;
	for (unsigned i = 0; i < PEBBLE_PAGE; i++)
		total += page[i] = i * 7 % 251;
	int sum = offered("/test/server", "nmcri", 0, SUM);
	long answer = call(sum, (long)page, PEBBLE_PAGE, 0, 0, 0);
	printf("level %d: domain %d, thread %s, checksum %s\n", level, asid, thread > 0 ? "known" : "unknown",
	       answer == total ? "right" : "wrong");
	for (int i = 0; i < 3; i++)
		printf("line %d of the innermost\n", i);
}

int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 1;
	while (level < depth) {
		waiting = sem_create(0);
		int result = portal_notify(notify);
		if (result < 0)
			return printf("level %d: portal_notify answers %d\n", level, result);
		child = 0;
		result = domain_fork(intercept);
		if (result < 0)
			return printf("level %d: domain_fork answers %d\n", level, result);
		if (result != 0) {
			child = result;
			sem_wait(waiting);
		}
		level++;
		memset(count, 0, sizeof count);
	}
	work();
	exit(level);
}
