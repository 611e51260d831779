/* A domain and its copies share one memory limit (64 MiB here): what copies could take beyond it ends them, not others. */
#include <pebble.h>
#include <stdio.h>

#define PAGE 4096
#define MIB (1 << 20)
#define EACH (24 * MIB)
#define CHILDREN 4

static volatile char memory[EACH] __attribute__((aligned(PAGE)));

struct record {
	char name[32];
	unsigned long values[8];
} __attribute__((aligned(128)));

static unsigned long information(int kind, int index, int which)
{
	static struct record record;
	if (invoke_portal(SYS_INFO, kind, index, (long)&record, 0, 0) != 0)
		return 0;
	return record.values[which];
}

static int intercept(int slot, long p1, long p2, long p3, long p4, long p5)
{
	return invoke_portal(slot, p1, p2, p3, p4, p5);
}

int main(void)
{
	int done = sem_create(0), child[CHILDREN];
	unsigned long before = information(3, 0, 0);
	for (int i = 0; i < CHILDREN; i++) {
		child[i] = domain_fork(intercept);
		if (child[i] == 0) {
			for (int at = 0; at < EACH; at += PAGE)
				memory[at] = 1;
			sem_post(done);
			for (;;)
				hrsleep(hrtime() + 1000000000);
		}
	}
	hrsleep(hrtime() + 200000000);
	int whole = 0;
	for (int i = 0; i < CHILDREN; i++)
		whole += information(0, child[i], 6) & 1;
	/* Four times 24 MiB are more than 64: which of them ends depends on whose turn it is. */
	printf("%s\n", whole < CHILDREN ? "not all copies live" : "all copies live");
	unsigned long taken = before - information(3, 0, 0);
	printf("%s\n", taken * PAGE <= 66 * MIB ? "within the limit" : "beyond the limit");
	for (int i = 0; i < CHILDREN; i++)
		domain_kill(child[i]);
	memory[0] = 2;
	return 0;
}
