/* Row 10: domains, threads and pages made, and components started, ended and replaced. Second argument: which. */
#include "../support/measure.h"

#define SETTLE 20000000 /* units after which the system has cleared away what was ended */

static char name[NAMELEN] __attribute__((aligned(NAMELEN)));
static int forever;

/* Whatever an interposed child asks for, it waits. */
static void park(void)
{
	for (;;)
		sem_wait(forever);
}

static int fork_domain(portal_entry intercept)
{
	int child = measure_good("domain_fork", domain_fork(intercept));
	if (child == 0)
		for (;;)
			sem_wait(forever);
	return child;
}

/* Ends a child after it had its turn and waits; the next one is made from the same state. */
static void end(int child)
{
	if (child == 0)
		return;
	yield();
	measure_good("domain_kill", domain_kill(child));
}

static void domains(void)
{
	int child = 0;
	MEASURE_EACH("domain-fork/shared", 1, end(child), child = fork_domain((portal_entry)(void *)0));
	end(child);
	child = 0;
	MEASURE_EACH("domain-fork/interposed", 1, end(child), child = fork_domain((portal_entry)(void *)park));
	end(child);
	MEASURE_EACH("domain-kill", 1, (child = fork_domain((portal_entry)(void *)0), yield()), domain_kill(child));
}

static void nothing(void *argument)
{
	(void)argument;
}

static void threads(void)
{
	/* The thread made before has ended when the yield comes back. */
	MEASURE_EACH("thread-create", 1, yield(), measure_good("thread_create", thread_create(nothing, 0)));
	yield();
	MEASURE("thread-life", 1, measure_good("thread_create", thread_create(nothing, 0)); yield());
}

static void pages(void)
{
	size_t bytes = (size_t)(measure_iterations + MEASURE_WARM) * PEBBLE_PAGE;
	volatile char *region = vm_map(bytes);
	if (VM_FAILED(region))
		measure_fail("vm_map", (long)region);
	volatile char *next = region;
	MEASURE("page-fault/write", 1, *next = 1; next += PEBBLE_PAGE);
	measure_good("vm_unmap", vm_unmap((void *)region));
	/* The first touch of the page that was added is part of it. */
	char *end;
	MEASURE("heap-page", 1, end = sbrk(PEBBLE_PAGE); if (end == (char *)-1) measure_fail("sbrk", -ENOMEM);
		*(volatile char *)end = 1);
}

/* Starts a component and answers its domain. */
static int start(int slot, const char *what)
{
	strcpy(name, what);
	return measure_good(what, invoke_portal(slot, (long)name, 0, 0, 0, 0));
}

/* The component ran, ended, and everything that it held is free again, if not at once then after a while. */
static void gone(int domain, unsigned long free_pages)
{
	struct measure_record record;
	measure_good("hrsleep", hrsleep(hrtime() + SETTLE));
	int answer = system_info(MEASURE_DOMAIN, domain, &record);
	if (answer >= 0 && record.values[6] & 1)
		measure_fail("a component that should have ended", domain);
	measure_good("system_info", system_info(MEASURE_MEMORY, 0, &record));
	if (record.values[0] < free_pages)
		measure_fail("pages that did not come back", free_pages - record.values[0]);
}

static unsigned long pages_free(void)
{
	struct measure_record record;
	measure_good("system_info", system_info(MEASURE_MEMORY, 0, &record));
	return record.values[0];
}

static void components(void)
{
	int starting = measure_good(INIT_START, portal_open(INIT_START));
	int stopping = measure_good(INIT_STOP, portal_open(INIT_STOP));
	static const char *const run[] = { "empty", "hello" };
	for (int i = 0; i < 2; i++) {
		char figure[32];
		sprintf(figure, "run/%s", run[i]);
		MEASURE(figure, 1, start(starting, run[i]));
		/* Once more, now that the program itself needs no new page. */
		measure_good("hrsleep", hrsleep(hrtime() + SETTLE));
		unsigned long before = pages_free();
		gone(start(starting, run[i]), before);
	}
	start(starting, "service");
	int slot = measure_good("/bench/service", portal_open("/bench/service"));
	MEASURE_EACH("replace", 1, measure_good("service", invoke_portal(slot, 0, 0, 0, 0, 0)); portal_close(slot), {
		strcpy(name, "service");
		measure_good("stop", invoke_portal(stopping, (long)name, 0, 0, 0, 0));
		start(starting, "service");
		slot = measure_good("/bench/service", portal_open("/bench/service"));
		if (invoke_portal(slot, 0, 0, 0, 0, 0) != 1)
			measure_fail("the new instance", slot);
	});
}

int main(int argc, char **argv)
{
	measure_start(argc, argv);
	forever = measure_good("sem_create", sem_create(0));
	const char *group = argc > 2 ? argv[2] : "";
	if (!strcmp(group, "domains"))
		domains();
	else if (!strcmp(group, "threads"))
		threads();
	else if (!strcmp(group, "pages"))
		pages();
	else if (!strcmp(group, "components"))
		components();
	else
		measure_fail("the second argument: domains, threads, pages or components", -EINVAL);
	return 0;
}
