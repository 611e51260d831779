/* Services that a child asks for through its parent: its own threads, heap and stacks change, nobody else's; and what
   it can observe is what the parent would observe in its place. */
#include "../servers/protocol.h"

static int child, told, good_in_child, wanted_in_child;
static int counts[NPORTALS];

static long intercept(int id, long p1, long p2, long p3, long p4, long p5)
{
	__atomic_fetch_add(&counts[id], 1, __ATOMIC_SEQ_CST);
	return call(id, p1, p2, p3, p4, p5);
}

static int notify(int asid, int id, char *template)
{
	char s[NAMELEN];
	(void)asid;
	sprintf(s, "sm=%s", template + 3);
	return child ? portal_create_child(child, id, s, 0, intercept) : 0;
}

static int tell(int c, int good, int wanted)
{
	(void)c;
	good_in_child = good;
	wanted_in_child = wanted;
	return sem_post(told);
}

static volatile int ended, ready;

static void short_life(void *argument)
{
	char room[4096];
	__asm__ volatile("" : : "r"(room) : "memory");
	(void)argument;
	__atomic_fetch_add(&ended, 1, __ATOMIC_SEQ_CST);
}

/* What any domain can observe of its portals; the parent and the child write the same list. */
struct observed {
	long answers[64];
	int count;
};

static void observe(struct observed *o)
{
	static char page[PEBBLE_PAGE] __attribute__((aligned(4096)));
	struct text name = { "/program/nobody" };
#define NOTE(value) o->answers[o->count++] = (long)(value)
	o->count = 0;
	NOTE(get_asid());
	NOTE(call(SYS_RETURN, 0, 0, 0, 0, 0));
	for (int slot = 1; slot < 16; slot++)
		NOTE(call(slot, 0, 0, 0, 0, 0));
	NOTE(call(SYS_PORTAL_OPEN, (long)name.text, 0, 0, 0, 0));
	NOTE(call(SYS_PORTAL_OPEN, 0, 0, 0, 0, 0));
	NOTE(call(SYS_PORTAL_OPEN, -8, 0, 0, 0, 0));
	NOTE(call(SYS_PORTAL_CLOSE, 1, 0, 0, 0, 0));
	NOTE(call(SYS_PORTAL_CLOSE, -1, 0, 0, 0, 0));
	NOTE(call(SYS_SEM_DESTROY, 5, 0, 0, 0, 0));
	NOTE(call(SYS_SEM_CREATE, -1, 0, 0, 0, 0));
	NOTE(call(SYS_VM_UNMAP, 12345, 0, 0, 0, 0));
	NOTE(call(SYS_VM_MAP, 0, 0, 0, 0, 0));
	NOTE(call(SYS_VM_MAP, 1L << 40, 0, 0, 0, 0));
	NOTE(call(SYS_SBRK, 1L << 40, 0, 0, 0, 0));
	NOTE(call(SYS_STACK_ADD, 32, 0, 0, 0, 0));
	NOTE(call(SYS_THREAD_CREATE, 0, 0, 0, 0, 0));
	NOTE(call(SYS_DOMAIN_KILL, 1, 0, 0, 0, 0));
	NOTE(call(SYS_INFO, 99, 0, (long)page, 0, 0));
	NOTE(call(SYS_INFO, 3, 0, 8, 0, 0));
	NOTE(call(SYS_VM_SUPPLY, 0, 0, 0, 0, 0));
	NOTE(call(SYS_THREAD_PRIORITY, 64, 0, 0, 0, 0));
	NOTE(call(SYS_PORTAL_ACCEPT, NPORTALS - 1, (long)name.text, 0, 0, 0));
	NOTE(call(59, 1, 2, 3, 4, 5));
	NOTE(call(63, 1, 2, 3, 4, 5));
	NOTE(call(NPORTALS - 1, 1, 2, 3, 4, 5));
}

static struct observed in_parent, in_child;

static void in_the_child(int report)
{
	int good = 0, wanted = 0;
#define GOOD(condition) (wanted++, good += !!(condition))
	/* The same answers as the parent gets, the domain's number included. */
	observe(&in_child);
	for (int i = 0; i < in_child.count; i++)
		GOOD(in_child.answers[i] == in_parent.answers[i]);
	/* Memory: its heap grows and holds. */
	char *block = malloc(600000);
	GOOD(block != NULL);
	memset(block, 0x5a, 600000);
	GOOD(block[0] == 0x5a && block[599999] == 0x5a);
	char *region = vm_map(5 * PEBBLE_PAGE);
	GOOD(!VM_FAILED(region));
	memset(region, 3, 5 * PEBBLE_PAGE);
	GOOD(vm_unmap(region) == 0);
	/* Threads: more than there are at one time, one after the other. */
	for (int i = 0; i < 60; i++) {
		int before = ended;
		GOOD(thread_create(short_life, NULL) > 0);
		while (ended == before)
			yield();
	}
	/* Semaphores, in step with the parent's slots. */
	int s = sem_create(2);
	GOOD(s >= PEBBLE_FIRST_DYNAMIC);
	GOOD(sem_wait(s) == 0 && sem_wait(s) == 0 && sem_post(s) == 0 && sem_wait(s) == 0);
	if (fork() == 0) {
		ready = 1;
		sem_post(s);
		thread_exit();
	}
	GOOD(sem_wait(s) == 0 && ready == 1);
	GOOD(sem_destroy(s) == 0);
	GOOD(hrsleep(hrtime() + 1000) == 0);
	call(report, good, wanted, 0, 0, 0);
	for (;;)
		sem_wait(sem_create(0));
}

int main(void)
{
	told = sem_create(0);
	EXPECT(portal_register("/program/tell", "nmcii", 0, tell), 0);
	int report = portal_open("/program/tell");
	int before_fork = 1;
	observe(&in_parent);
	EXPECT(portal_notify(notify), 0);
	int result = domain_fork(intercept);
	if (result == 0)
		in_the_child(report);
	child = result;
	CHECK(child > 0);
	sem_wait(told);
	if (!EXPECT(good_in_child, wanted_in_child))
		for (int i = 0; i < in_parent.count; i++)
			printf("  observation %d in the parent: %ld\n", i, in_parent.answers[i]);
	CHECK(wanted_in_child > 100);
	/* Its threads and their end, its heap: none of it here. */
	EXPECT(ended, 0);
	EXPECT(ready, 0);
	EXPECT(before_fork, 1);
	EXPECT(counts[SYS_THREAD_CREATE], 62);
	EXPECT(counts[SYS_THREAD_EXIT], 61);
	CHECK(counts[SYS_SBRK] > 1);
	/* The parent's heap works as before. */
	char *block = malloc(700000);
	CHECK(block != NULL);
	memset(block, 1, 700000);
	EXPECT(domain_kill(child), 0);
	return check_end();
}
