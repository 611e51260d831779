/* Row 6: from a timer interrupt to the thread that waited for it, while another thread does something else.

   As the embedded paper's figure 3: a thread of the highest priority in use sleeps until a random point in time, and
   the sample is how late it is. Each background is a domain of its own (for the ring of semaphores two), which shares the program's portal table and runs at a lower priority until it is ended. */
#include "../support/ring.h"

#define BACKGROUND 10 /* priority of what runs behind; the program's own is 20 */
#define FEWEST 5000   /* units of hrtime (two cycles) that a sleep lasts at the least */
#define RANGE 20000   /* how many more it may last */
#define SETTLE 2000000 /* units in which the system clears away a background that was ended */
#define NOWHERE 0x7f000000L /* an address at which no program has memory */

static int board;          /* slot: a call into the program's domain that returns at once */
static int window;         /* slot: the same with a window of one page */
static int token[2];       /* semaphores of the ring */
static volatile int never; /* what the idle background looks at */
static char page[PEBBLE_PAGE] __attribute__((aligned(PEBBLE_PAGE)));

static int answer(void)
{
	return 0;
}

static void idle(void)
{
	while (!never)
		;
}

static void short_circuit(void)
{
	for (;;)
		get_asid();
}

static void call(void)
{
	for (;;)
		invoke_portal(board, 1, 2, 3, 0, 0);
}

static void yields(void)
{
	for (;;)
		yield();
}

static void ring(void)
{
	int left = token[ring_place % 2], right = token[(ring_place + 1) % 2];
	for (;;) {
		sem_wait(left);
		sem_post(right);
	}
}

static void windows(void)
{
	page[0] = 1;
	for (;;)
		invoke_portal(window, (long)page, 2, 3, 0, 0);
}

/* A call that succeeds where it must not ends the domain, which the program finds out when it ends the domain itself. */
static void must_fail(int answer)
{
	if (answer >= 0)
		exit(1);
}

/* Calls that fail, each in another way: no portal in the slot, slots beyond the table (which are cut to its size), windows to where there is no
   memory, to what cannot be written and to no address at all, services refused after a look at their arguments. */
static void hostile(void)
{
	for (long i = 0;; i++) {
		must_fail(invoke_portal(NPORTALS - 1, 0, 0, 0, 0, 0));
		must_fail(invoke_portal(i * NPORTALS - 1, 0, 0, 0, 0, 0));
		must_fail(invoke_portal(window, NOWHERE + i % 1024 * PEBBLE_PAGE, 2, 3, 0, 0));
		must_fail(invoke_portal(window, (long)hostile, 2, 3, 0, 0));
		must_fail(invoke_portal(window, -1, 2, 3, 0, 0));
		must_fail(sem_destroy(NPORTALS - 1));
		must_fail(domain_kill(-5));
		must_fail(portal_open("/nowhere/at/all"));
	}
}

/* Ends domains while they compete with others for the processor: the ended thread leaves when its turn comes, up to a
   quantum later, and then a server of high priority clears its domain away. */
static void churn(void)
{
	if (ring_place == 1)
		idle();
	measure_good("thread_priority", thread_priority(BACKGROUND + 1));
	for (;;) {
		int child = measure_good("domain_fork", domain_fork(0));
		if (child == 0) {
			thread_priority(BACKGROUND);
			idle();
		}
		hrsleep(hrtime() + FEWEST);
		measure_good("domain_kill", domain_kill(child));
		hrsleep(hrtime() + 2 * SETTLE);
	}
}

static unsigned next_random(void)
{
	static unsigned state = 0x2545f491;
	state ^= state << 13;
	state ^= state >> 17;
	return state ^= state << 5;
}

static unsigned late(void)
{
	unsigned long long until = hrtime() + FEWEST + next_random() % RANGE;
	measure_good("hrsleep", hrsleep(until));
	return cycles() - 2 * until;
}

static int longest_only; /* row 7: told is only the largest delay beyond the least that there is */
static unsigned least = -1;

static void sample(const char *name)
{
	unsigned most = 0;
	for (int i = 0; i < MEASURE_WARM; i++)
		late();
	for (int i = 0; i < measure_iterations; i++) {
		unsigned value = measure_samples[i] = late();
		most = value > most ? value : most;
		least = value < least ? value : least;
	}
	if (!longest_only) {
		measure_tell(name, 1, measure_iterations);
		return;
	}
	char figure[64];
	snprintf(figure, sizeof figure, "measured/%s", name);
	measure_number(figure, most - least);
}

static void (*work)(void);

static void background(void)
{
	measure_good("thread_priority", thread_priority(BACKGROUND));
	/* The second of a pair has the token. */
	if (work == ring && ring_place == 2)
		sem_post(token[0]);
	work();
}

static void with(const char *name, int domains, void (*function)(void))
{
	work = function;
	ring_make(1 + domains, background);
	sample(name);
	ring_end();
	measure_good("hrsleep", hrsleep(hrtime() + SETTLE));
}

int main(int argc, char **argv)
{
	measure_start(argc, argv);
	longest_only = argc > 2 && !strcmp(argv[2], "longest");
	measure_overhead = 0; /* a sample has one reading of the counter, not two */
	measure_good("portal_register", portal_register("/program/call", "nmciii", 0, answer));
	board = measure_good("portal_open", portal_open("/program/call"));
	measure_good("portal_register", portal_register("/program/window", "nmcwii", 0, answer));
	window = measure_good("portal_open", portal_open("/program/window"));
	for (int i = 0; i < 2; i++)
		token[i] = measure_good("sem_create", sem_create(0));
	sample("nothing");
	with("idle", 1, idle);
	with("short-circuit", 1, short_circuit);
	with("ipc", 1, call);
	with("yield", 1, yields);
	with("semaphore", 2, ring);
	with("window", 1, windows);
	with("hostile", 1, hostile);
	/* Its delays are a server's work with interrupts on. */
	if (!longest_only)
		with("churn", 2, churn);
	return 0;
}
