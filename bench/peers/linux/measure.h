/* Measuring under Linux as bench/support/measure.h does under Pebble: the same samples, told in the same form. */
#ifndef MEASURE_H
#define MEASURE_H

#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEASURE_MOST 10000
#define MEASURE_WARM 200

static int measure_iterations = MEASURE_MOST;
static unsigned measure_overhead;
static unsigned measure_samples[MEASURE_MOST];
static const char *measure_class = ""; /* put behind the names of figures: the scheduling class */

static inline unsigned long cycles(void)
{
	unsigned long now;
	__asm__ volatile("rdcycle %0" : "=r"(now)::"memory");
	return now;
}

/* A system call without the C library around it, whose cost is not Linux's. */
static inline __attribute__((always_inline)) long call(long number, long a, long b, long c, long d)
{
	register long a7 __asm__("a7") = number, a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c,
			  a3 __asm__("a3") = d, a4 __asm__("a4") = 0, a5 __asm__("a5") = 0;
	__asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5) : "memory");
	return a0;
}

/* Ends the machine with a reason. */
static inline __attribute__((noreturn)) void fail(const char *what)
{
	printf("failed %s: %s\n", what, strerror(errno));
	fflush(stdout);
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static inline long good(const char *what, long answer)
{
	if (answer < 0)
		fail(what);
	return answer;
}

static int measure_order(const void *one, const void *other)
{
	unsigned a = *(const unsigned *)one, b = *(const unsigned *)other;
	return (a > b) - (a < b);
}

static inline void measure_tell(const char *name, int parts, int count, unsigned overhead)
{
	qsort(measure_samples, count, sizeof *measure_samples, measure_order);
	printf("figure %s%s parts=%d overhead=%u", name, measure_class, parts, overhead);
	for (int first = 0, next; first < count; first = next) {
		for (next = first; next < count && measure_samples[next] == measure_samples[first]; next++)
			;
		printf(" %u:%d", measure_samples[first], next - first);
	}
	printf("\n");
	fflush(stdout);
}

#define MEASURE(name, parts, ...)                                                                       \
	do {                                                                                            \
		for (int measure_i = -MEASURE_WARM; measure_i < measure_iterations; measure_i++) {      \
			unsigned long measure_begin = cycles();                                         \
			__VA_ARGS__;                                                                    \
			unsigned long measure_end = cycles();                                           \
			if (measure_i >= 0)                                                             \
				measure_samples[measure_i] = measure_end - measure_begin;               \
		}                                                                                       \
		measure_tell(name, parts, measure_iterations, measure_overhead);                        \
	} while (0)

static inline void measure_calibrate(void)
{
	measure_overhead = ~0u;
	for (int i = 0; i < 1000; i++) {
		unsigned long begin = cycles(), end = cycles();
		if (end - begin < measure_overhead)
			measure_overhead = end - begin;
	}
}

/* Child processes that run until they are ended. */
#define CHILDREN 8
static pid_t children[CHILDREN];
static int children_count;

/* Answers 1 in a new child. */
static inline int child(void)
{
	pid_t made = good("fork", fork());
	if (made)
		children[children_count++] = made;
	return made == 0;
}

static inline void end_children(void)
{
	while (children_count) {
		pid_t last = children[--children_count];
		kill(last, SIGKILL);
		waitpid(last, 0, 0);
	}
}
#endif
