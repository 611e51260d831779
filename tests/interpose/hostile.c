/* A child that tries every way around its parent: each portal that it has leads to the parent, which counts and answers
   by itself; every other number is refused. Nothing reaches the system behind the parent's back. */
#include "../servers/protocol.h"

static int count[NPORTALS], child, told;
static long words[6];
static volatile int verdicts[8];

static long intercept(int id, long p1, long p2, long p3, long p4, long p5)
{
	if (id < 0 || id >= NPORTALS)
		return -1;
	__atomic_fetch_add(&count[id], 1, __ATOMIC_SEQ_CST);
	long seen[] = { id, p1, p2, p3, p4, p5 };
	memcpy(words, seen, sizeof words);
	return 1000 + id;
}

/* The child's only real portal: verdict `which` is `value`. */
static int tell(int c, int which, int value)
{
	(void)c;
	verdicts[which] = value;
	return which == 7 ? sem_post(told) : 0;
}

enum { TELL = 300 };

static void hostile(void)
{
	while (call(TELL, 0, 1, 0, 0, 0) != 0)
		;
	int good = 0;
	/* Every slot, three times with different words. */
	for (int round = 0; round < 3; round++)
		for (int slot = 0; slot < NPORTALS; slot++) {
			if (slot == TELL)
				continue;
			long answer = call(slot, round, -1, 1L << 40, PEBBLE_IMAGE, slot);
			long wanted = -PEBBLE_ENOSYS;
			if (slot == 8)
				wanted = -EFAULT;
			/* The parent's semaphore was there before the fork. */
			if ((slot >= SYS_EXIT && slot <= SYS_PORTAL_ACCEPT) || slot == told || slot == told + 1)
				wanted = 1000 + slot;
			/* Letter r or w: the page at that address is not the child's. */
			int window = slot == SYS_PORTAL_REGISTER || slot == SYS_PORTAL_OPEN || slot == SYS_PORTAL_CREATE_CHILD ||
				     slot == SYS_INFO || slot == SYS_VM_PAGER || slot == SYS_PORTAL_ACCEPT;
			good += answer == wanted || (window && answer == -EFAULT);
		}
	call(TELL, 1, good, 0, 0, 0);
	/* Beyond the table: the same slots again. */
	good = 0;
	for (long high = 1; high < 1L << 50; high <<= 5)
		good += call(high * NPORTALS + SYS_DOMAIN_KILL, 1, 0, 0, 0, 0) == 1000 + SYS_DOMAIN_KILL;
	good += call(-NPORTALS + SYS_SBRK, 1, 0, 0, 0, 0) == 1000 + SYS_SBRK;
	call(TELL, 2, good, 0, 0, 0);
	/* Returning without having been called. */
	good = 0;
	for (int i = 0; i < 10; i++)
		good += call(SYS_RETURN, 0, 0, 0, 0, 0) == -PEBBLE_ENOSYS;
	call(TELL, 3, good, 0, 0, 0);
	/* With a valid window the parent sees the page, and still decides. */
	static struct text name = { "/program/tell" };
	good = call(SYS_PORTAL_OPEN, (long)name.text, 0, 0, 0, 0) == 1000 + SYS_PORTAL_OPEN;
	good += call(SYS_PORTAL_REGISTER, (long)name.text, (long)name.text, 0, 0, 0) == 1000 + SYS_PORTAL_REGISTER;
	good += call(SYS_PORTAL_CREATE_CHILD, get_asid(), 301, (long)name.text, 0, 0) == 1000 + SYS_PORTAL_CREATE_CHILD;
	good += call(301, 0, 0, 0, 0, 0) == -PEBBLE_ENOSYS;
	call(TELL, 4, good, 0, 0, 0);
	/* Memory of the parent's that it does not have: the gate page is for reading only. */
	call(TELL, 7, 1, 0, 0, 0);
	__asm__ volatile("sd zero, 0(%0)" ::"r"(PEBBLE_GATE));
	call(TELL, 5, 99, 0, 0, 0);
	for (;;)
		;
}

int main(void)
{
	told = sem_create(0);
	child = domain_fork(intercept);
	if (child == 0)
		hostile();
	CHECK(child > 0);
	EXPECT(portal_create_child(child, TELL, "nmcii", 0, tell), 0);
	sem_wait(told);
	EXPECT(verdicts[0], 1);
	EXPECT(verdicts[1], 3 * (NPORTALS - 1));
	EXPECT(verdicts[2], 11);
	EXPECT(verdicts[3], 10);
	EXPECT(verdicts[4], 4);
	/* What the parent counted: three rounds of every standard portal but those whose window was refused. */
	int window_calls = 0;
	for (int slot = 0; slot < NPORTALS; slot++) {
		int stub = (slot >= SYS_EXIT && slot <= SYS_PORTAL_ACCEPT) || slot == told || slot == told + 1;
		int expected = stub ? 3 : 0;
		switch (slot) {
		case SYS_PORTAL_REGISTER:
		case SYS_PORTAL_OPEN:
		case SYS_PORTAL_CREATE_CHILD:
		case SYS_INFO:
		case SYS_VM_PAGER:
		case SYS_PORTAL_ACCEPT:
			window_calls += count[slot];
			continue;
		case SYS_DOMAIN_KILL:
			expected += 10;
			break;
		case SYS_SBRK:
		case SYS_GET_ASID:
			expected += 1;
		}
		if (!EXPECT(count[slot], expected))
			printf("  slot %d\n", slot);
	}
	/* Only those with a page that is the child's. */
	EXPECT(window_calls, 3);
	for (int i = 0; i < 100; i++)
		yield();
	EXPECT(verdicts[5], 0);
	return check_end();
}
