/* The peer's measurements, run as the first process of a Linux kernel: what Pebble's rows have beside them.

   Every figure is measured twice where the scheduling class matters: as a user gets it, and (-fifo) in the real-time
   class, which is Linux at its best. The kernel's command line says how many samples. */
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <fcntl.h>

#include "latency.h"

static void real_time(int priority)
{
	struct sched_param parameter = { .sched_priority = priority };
	good("sched_setscheduler", sched_setscheduler(0, priority ? SCHED_FIFO : SCHED_OTHER, &parameter));
	measure_class = priority ? "-fifo" : "";
}

static void rings(void)
{
	static const int sizes[] = { 1, 2, 4, 8 };
	for (int i = 0; i < 4; i++) {
		pipe_ring(sizes[i]);
		semaphore_ring(sizes[i]);
		futex_ring(sizes[i]);
		eventfd_ring(sizes[i]);
		socketpair_ring(sizes[i]);
	}
}

/* The measuring process's own turn comes round when all others had theirs; the ordinary class may leave some out, so
   one sample counts as one yield only in the real-time class and alone. Elsewhere the yields of all are counted. */
static void yields(int size)
{
	char name[32];
	volatile unsigned long *turns = (void *)shared->futex;
	for (int i = 0; i < size; i++)
		turns[8 * i] = 0;
	for (int i = 1; i < size; i++)
		if (child())
			for (;;) {
				call(SYS_sched_yield, 0, 0, 0, 0);
				turns[8 * i]++;
			}
	for (int i = -MEASURE_WARM; i < measure_iterations; i++) {
		unsigned long before = 0, after = 0, begin = cycles();
		for (int j = 1; j < size; j++)
			before += turns[8 * j];
		/* Enough turns that all have had theirs. */
		for (int j = 0; j < size; j++)
			call(SYS_sched_yield, 0, 0, 0, 0);
		unsigned long end = cycles();
		for (int j = 1; j < size; j++)
			after += turns[8 * j];
		if (i >= 0)
			measure_samples[i] = (end - begin) / (size + after - before);
	}
	snprintf(name, sizeof name, "yield/%d", size);
	measure_tell(name, 1, measure_iterations, 0);
	end_children();
}

static void memory(void)
{
	size_t bytes = (size_t)(MEASURE_WARM + measure_iterations) * 4096;
	volatile char *region = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (region == MAP_FAILED)
		fail("mmap");
	volatile char *next = region;
	MEASURE("page-fault", 1, *next = 1; next += 4096);
	munmap((void *)region, bytes);
	long begin = call(SYS_brk, 0, 0, 0, 0), end = (begin + 4095) & ~4095l;
	good("brk", call(SYS_brk, end, 0, 0, 0));
	MEASURE("heap-page", 1, call(SYS_brk, end + 4096, 0, 0, 0); *(volatile char *)end = 1; end += 4096);
	/* What is measured after this makes copies of the process. */
	good("brk", call(SYS_brk, begin, 0, 0, 0));
}

static void run(const char *program)
{
	static char *const arguments[] = { "program", 0 }, *const environment[] = { 0 };
	pid_t made = good("fork", fork());
	if (made == 0) {
		if (program)
			execve(program, arguments, environment);
		_exit(program != 0);
	}
	int status;
	if (waitpid(made, &status, 0) != made || status)
		fail("a child");
}

static void processes(void)
{
	int all = measure_iterations, output = dup(1), null = good("/dev/null", open("/dev/null", O_RDWR));
	measure_iterations = all > 1000 ? 1000 : all;
	MEASURE("fork", 1, run(0));
	/* The figure is told when output is back at the console. */
	for (int i = -MEASURE_WARM; i < measure_iterations; i++) {
		dup2(null, 1);
		unsigned long begin = cycles();
		run("/hello");
		unsigned long end = cycles();
		dup2(output, 1);
		if (i >= 0)
			measure_samples[i] = end - begin;
	}
	measure_tell("fork-exec", 1, measure_iterations, measure_overhead);
	measure_iterations = all;
	close(null);
	close(output);
}

static void bandwidth(void)
{
	static char block[4096];
	channels_open();
	if (child())
		for (;;)
			call(SYS_read, pipes[1][0], (long)block, sizeof block, 0);
	MEASURE("pipe-4096", 1, call(SYS_write, pipes[1][1], (long)block, sizeof block, 0));
	end_children();
	channels_close();
}

int main(void)
{
	const char *samples = getenv("SAMPLES");
	if (samples)
		measure_iterations = atoi(samples);
	if (measure_iterations < 1 || measure_iterations > MEASURE_MOST)
		fail("SAMPLES");
	good("mount", mount("proc", "/proc", "proc", 0, 0));
	int limit = open("/proc/sys/kernel/sched_rt_runtime_us", O_WRONLY);
	if (limit >= 0 && write(limit, "-1", 2) != 2)
		fail("sched_rt_runtime_us");
	close(limit);
	shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		fail("mmap");
	/* Let the boot's own work end. */
	sleep(2);
	measure_calibrate();
	MEASURE("getppid", 1, call(SYS_getppid, 0, 0, 0, 0));
	for (int class = 0; class < 2; class++) {
		real_time(class ? 10 : 0);
		rings();
		for (int size = 1; size <= RING_MOST; size *= 2)
			yields(size);
	}
	real_time(0);
	bandwidth();
	memory();
	processes();
	backgrounds(latency);
	printf("end\n");
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}
