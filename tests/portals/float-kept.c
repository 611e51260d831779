/* Floating-point registers: each thread's are its own over switches, interrupts and portals one after the other and in
   each other. */
#include "../servers/protocol.h"
#include "registers.h"

#define SERVER "/test/server"

enum { THREADS = 4, STEPS = 400000 };

/* A computation whose every step needs all of its registers: a result that differs tells of one lost bit. */
static double compute(int seed)
{
	double a = seed, b = 1.0 / seed, c = seed * 0.75, d = 3, e = seed * 1e-3, f = 7;
	for (int i = 0; i < STEPS; i++) {
		a = a * 0.999 + b;
		b = b * 0.5 + c * 1e-3;
		c = c * 0.25 + d;
		d = d * 0.125 + e;
		e = e * 0.0625 + f * 1e-2;
		f = f * 0.5 + a * 1e-3;
	}
	return a + b * 3 + c * 5 + d * 7 + e * 11 + f * 13;
}

static double results[THREADS];
static int done, next, trash_p;

static void computing(void *argument)
{
	int mine = __atomic_fetch_add(&next, 1, __ATOMIC_SEQ_CST);
	results[mine] = compute(mine + 3);
	sem_post(done);
	(void)argument;
}

static volatile double kept_result;
static double work(double x)
{
	for (int i = 0; i < 5; i++)
		x = x * 1.25 + 1;
	return x;
}

/* Uses floating point as a C function may: what it must keep, it keeps. */
static __attribute__((noinline)) int computes(int nested)
{
	register double kept __asm__("fs0") = 77.5;
	__asm__ volatile("" : "+f"(kept));
	if (nested)
		call(trash_p, 0, 0, 0, 0, 0);
	__asm__ volatile("" : "+f"(kept));
	kept_result = work(kept);
	return kept == 77.5;
}

/* The first use is before the inner call (1), or behind it (2), while the invoker's registers are elsewhere still. */
static int uses(int c, int nested)
{
	(void)c;
	if (nested == 2)
		call(trash_p, 0, 0, 0, 0, 0);
	return computes(nested == 1);
}

/* Holds numbers in every register over two calls. */
static int holds_over(int first, int second, long a1)
{
	struct state after;
	memset(&after, 0, sizeof after);
	held_over(first, &after, a1, 0, second);
	return wrong_integers(&after) + wrong_floats(&after, 0);
}

int main(void)
{
	done = sem_create(0);
	double reference[THREADS];
	for (int i = 0; i < THREADS; i++)
		reference[i] = compute(i + 3);
	unsigned long long begin = hrtime();
	for (int i = 0; i < THREADS; i++)
		CHECK(thread_create(computing, NULL) > 0);
	/* This one computes too, and is interrupted like the others. */
	CHECK(compute(9) == compute(9));
	for (int i = 0; i < THREADS; i++)
		sem_wait(done);
	/* Long enough for several quanta of 10 ms each. */
	CHECK(hrtime() - begin > 10000000);
	for (int i = 0; i < THREADS; i++)
		CHECK(results[i] == reference[i]);

	/* Portals of both kinds, one after the other and in each other. */
	EXPECT(portal_register("/program/uses-m", "nmci", 0, uses), 0);
	EXPECT(portal_register("/program/uses-p", "npci", 0, uses), 0);
	EXPECT(portal_register("/program/uses-s", "smci", 0, uses), 0);
	trash_p = offered(SERVER, "npc", 0, TRASH);
	int ways[] = { SYS_GET_ASID, portal_open("/program/uses-m"), portal_open("/program/uses-p"),
		       portal_open("/program/uses-s"), trash_p };
	enum { WAYS = sizeof ways / sizeof *ways };
	for (int i = 0; i < WAYS; i++)
		for (int j = 0; j < WAYS; j++)
			for (int nested = 0; nested < 3; nested++) {
				if (!EXPECT(holds_over(ways[i], ways[j], nested), 0))
					printf("  way %d, then way %d, nested %d\n", i, j, nested);
			}
	for (int i = 1; i < 4; i++)
		for (int nested = 0; nested < 3; nested++)
			EXPECT(call(ways[i], nested, 0, 0, 0, 0), 1);
	return check_end();
}
