/* The server that test programs call: registers any portal that it is asked for. Arguments: where its names
   are, and how many stacks its queue has. */
#include "protocol.h"

static const char *prefix;
static struct record seen;
static volatile int inside;
static volatile char *kept;
static int gate, waiting;

/* Leave no register as it was found: `seen` is filled by what the entries below stored on the stack. */
extern long record_entry(), record_float_entry(), trash_entry();

long record_copy(uint64_t *x, uint64_t *f)
{
	memcpy(seen.x, x, sizeof seen.x);
	if (f)
		memcpy(seen.f, f, sizeof seen.f);
	return 77;
}

__asm__(".macro store_all\n"
	"	addi sp, sp, -560\n"
	"	.irp i, 1,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
	"	sd x\\i, 8*\\i(sp)\n"
	"	.endr\n"
	"	sd x0, 0(sp)\n"
	"	addi t0, sp, 560\n"
	"	sd t0, 16(sp)\n"
	".endm\n"
	"record_entry:\n"
	"	store_all\n"
	"	mv a0, sp\n"
	"	li a1, 0\n"
	"	call record_copy\n"
	"	ld ra, 8(sp)\n"
	"	addi sp, sp, 560\n"
	"	ret\n"
	"record_float_entry:\n"
	"	store_all\n"
	"	.irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
	"	fsd f\\i, 256+8*\\i(sp)\n"
	"	.endr\n"
	"	mv a0, sp\n"
	"	addi a1, sp, 256\n"
	"	call record_copy\n"
	"	ld ra, 8(sp)\n"
	"	addi sp, sp, 560\n"
	"	ret\n"
	"trash_entry:\n"
	"	li t0, -3\n"
	"	.irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
	"	fcvt.d.l f\\i, t0\n"
	"	.endr\n"
	"	.irp i, 3,4,5,6,7,8,9,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
	"	li x\\i, -7*\\i\n"
	"	.endr\n"
	"	li a0, 78\n"
	"	ret\n");

static int together(int c, int wanted)
{
	(void)c;
	int now = __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
	if (now == wanted)
		for (int i = 1; i < wanted; i++)
			sem_post(gate);
	else
		sem_wait(gate);
	__atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
	return now;
}

static int slowly(int c, int cycles)
{
	(void)c;
	uint64_t now = __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
	if (now > seen.most)
		seen.most = now;
	hrsleep(hrtime() + cycles);
	__atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
	return 79;
}

static long call_back(int slot, long a, long b)
{
	static int back;
	(void)slot;
	if (!back)
		back = portal_open("/program/back");
	return back < 0 ? back : call(back, a, b, 0, 0, 0);
}

static int touch(int c, volatile char *address, int store, long offset)
{
	(void)c;
	address += offset;
	if (store)
		*address = 'x';
	return *address;
}

static long sum(int c, unsigned char *from, int count)
{
	long total = 0;
	(void)c;
	for (int i = 0; i < count; i++)
		total += from[i];
	return total;
}

static long fill(int c, char *to, int count, int value)
{
	(void)c;
	memset(to, value, count);
	return count;
}

static int keep(int c, char *address)
{
	(void)c;
	if (!address)
		return *kept;
	kept = address;
	return *kept;
}

__attribute__((noinline)) static int overflow(int depth)
{
	volatile char room[1024];
	room[0] = depth;
	return depth < 1 << 20 ? overflow(depth + 1) + room[0] : 0;
}

static int die(int c, int how, void (*to)(void))
{
	(void)c;
	switch (how) {
	case BY_EXIT:
		exit(5);
	case BY_FAULT:
		__asm__ volatile("ld zero, 8(zero)");
		return 0;
	case BY_STACK_OVERFLOW:
		return overflow(0);
	case BY_ILLEGAL:
		__asm__ volatile("unimp");
		return 0;
	default:
		to();
		return 0;
	}
}

static long pass(long slot, long a, long b)
{
	return call(slot, a, b, 0, 0, 0);
}

static long invoke(int c, long slot, long a, long b)
{
	(void)c;
	return call(slot, a, b, 0, 0, 0);
}

static int open_for_itself(int c, const char *name)
{
	(void)c;
	return portal_open(name);
}

static int look(int c, struct info *to)
{
	static struct info record;
	(void)c;
	int result = system_info(INFO_THREAD, get_thread(), &record);
	*to = record;
	return result;
}

static int accept_passed(int c, int word, const char *specification)
{
	(void)c;
	return portal_accept(word, specification);
}

static int accept_two(int c, int word, const char *specification, int other)
{
	(void)c;
	int first = portal_accept(word, specification);
	int second = first < 0 ? first : portal_accept(other, specification);
	return second < 0 ? second : second << 16 | first;
}

static int accept_late(int cycles, int word, const char *specification)
{
	struct text copy;
	/* The window is gone when its owner is. */
	memcpy(copy.text, specification, strlen(specification) + 1);
	hrsleep(hrtime() + cycles);
	seen.most = portal_accept(word, copy.text);
	return seen.most;
}

static int semaphore(int c, int value)
{
	(void)c;
	return sem_create(value);
}

static const portal_entry entries[ENTRIES] = {
	[RECORD] = { .returns_long = record_entry }, [RECORD_FLOAT] = { .returns_long = record_float_entry },
	[TRASH] = { .returns_long = trash_entry },   [TOGETHER] = { .returns_int = together },
	[SLOWLY] = { .returns_int = slowly },	     [CALL_BACK] = { .returns_long = call_back },
	[TOUCH] = { .returns_int = touch },	     [SUM] = { .returns_long = sum },
	[FILL] = { .returns_long = fill },	     [KEEP] = { .returns_int = keep },
	[DIE] = { .returns_int = die },		     [PASS] = { .returns_long = pass },
	[OPEN] = { .returns_int = open_for_itself }, [LOOK] = { .returns_int = look },
	[INVOKE] = { .returns_long = invoke },
	[ACCEPT] = { .returns_int = accept_passed }, [ACCEPT_TWO] = { .returns_int = accept_two },
	[ACCEPT_LATE] = { .returns_int = accept_late }, [SEMAPHORE] = { .returns_int = semaphore },
};

static int offer(int c, const char *specification, int entry, long constant)
{
	static int last;
	char name[NAMELEN];
	(void)c;
	if (entry < 0 || entry >= ENTRIES)
		return -EINVAL;
	snprintf(name, sizeof name, "%s/%d", prefix, last + 1);
	int result = portal_register(name, specification, constant, entries[entry]);
	return result < 0 ? result : ++last;
}

static int fetch(int c, struct record *to)
{
	(void)c;
	seen.inside = inside;
	*to = seen;
	return 0;
}

int main(int argc, char **argv)
{
	char name[NAMELEN];
	prefix = argc > 1 ? argv[1] : "/test/server";
	gate = sem_create(0);
	waiting = sem_create(0);
	stack_add(argc > 2 ? atoi(argv[2]) : 8);
	snprintf(name, sizeof name, "%s/fetch", prefix);
	int result = portal_register(name, "nmcw", 0, fetch);
	snprintf(name, sizeof name, "%s/offer", prefix);
	if (result == 0)
		result = portal_register(name, "nmcrii", 0, offer);
	if (result < 0)
		fprintf(stderr, "test server: cannot register %s: %d\n", name, result);
	for (;;)
		sem_wait(waiting);
}
