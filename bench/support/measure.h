/* Measuring in a program that runs in the system: samples of the cycle counter, told as exact histograms.

   A figure is a set of samples. A sample is what the cycle counter says after one execution of the measured
   statement minus what it said before; nothing of the loop is in it. What an empty statement gives (the second reading
   itself) is measured first and told with every figure, so that the host can subtract it. Nothing here knows
   which machine it runs on: `cycles` is the processor's own counter. */
#ifndef MEASURE_H
#define MEASURE_H

#include <pebble.h>
#include <string.h>

#define MEASURE_MOST 10000 /* samples that a figure may have */
#define MEASURE_WARM (measure_iterations < 200 ? measure_iterations : 200) /* executions before the first sample */

static int measure_iterations = MEASURE_MOST;
static unsigned measure_overhead;
static unsigned measure_samples[MEASURE_MOST];

static inline unsigned long cycles(void)
{
	unsigned long now;
#if defined(__riscv)
	__asm__ volatile("rdcycle %0" : "=r"(now)::"memory");
#else
#error "the measurements need a cycle counter: add this processor's"
#endif
	return now;
}

static int measure_order(const void *one, const void *other)
{
	unsigned a = *(const unsigned *)one, b = *(const unsigned *)other;
	return (a > b) - (a < b);
}

/* Tells a figure: `figure NAME parts=P overhead=O VALUE:COUNT ...`, values rising. A sample covers `parts` equal
   things; the host divides. */
static inline void measure_tell(const char *name, int parts, int count)
{
	qsort(measure_samples, count, sizeof *measure_samples, measure_order);
	printf("figure %s parts=%d overhead=%u", name, parts, measure_overhead);
	for (int first = 0, next; first < count; first = next) {
		for (next = first; next < count && measure_samples[next] == measure_samples[first]; next++)
			;
		printf(" %u:%d", measure_samples[first], next - first);
	}
	printf("\n");
}

/* Tells a figure that is one number, exact by its nature: a length, a count of pages. */
static inline void measure_number(const char *name, unsigned long value)
{
	printf("figure %s parts=1 overhead=0 %lu:1\n", name, value);
}

/* Called before the last sample of a figure: a debugger finds here what to step through. */
static __attribute__((__noinline__, __unused__)) void measure_last(const char *name)
{
	__asm__ volatile("" : : "r"(name) : "memory");
}

/* Measures a statement and tells the figure; before each time `prepare` is executed, outside the sample. */
#define MEASURE_EACH(name, parts, prepare, ...)                                        \
	do {                                                                           \
		for (int measure_i = -MEASURE_WARM; measure_i < measure_iterations; measure_i++) { \
			prepare;                                                       \
			if (measure_i == measure_iterations - 1)                       \
				measure_last(name);                                    \
			unsigned long measure_begin = cycles();                        \
			__VA_ARGS__;                                                   \
			unsigned long measure_end = cycles();                          \
			if (measure_i >= 0)                                            \
				measure_samples[measure_i] = measure_end - measure_begin; \
		}                                                                      \
		measure_tell(name, parts, measure_iterations);                         \
	} while (0)

/* Measures a statement and tells the figure. */
#define MEASURE(name, parts, ...) MEASURE_EACH(name, parts, , __VA_ARGS__)

/* Ends the program with a reason: a measurement that did not happen must not be taken for one. */
static inline __attribute__((__noreturn__)) void measure_fail(const char *what, long answer)
{
	fprintf(stderr, "%s: answers %ld\n", what, answer);
	exit(1);
}

/* The answer of something that must work. */
static inline long measure_good(const char *what, long answer)
{
	if (answer < 0)
		measure_fail(what, answer);
	return answer;
}

/* Reads the arguments (the number of samples for each figure) and finds out what an empty statement costs. */
static inline void measure_start(int argc, char **argv)
{
#if defined(__riscv)
	/* Means nothing, but for the firmware of bench/rtl: what follows happens on another machine. */
	__asm__ volatile("csrr x0, time" ::: "memory");
#endif
	if (argc > 1)
		measure_iterations = atoi(argv[1]);
	if (measure_iterations < 1 || measure_iterations > MEASURE_MOST)
		measure_fail("number of samples", measure_iterations);
	for (int i = 0; i < MEASURE_MOST / 10; i++) {
		unsigned long begin = cycles();
		measure_samples[i] = cycles() - begin;
	}
	qsort(measure_samples, MEASURE_MOST / 10, sizeof *measure_samples, measure_order);
	measure_overhead = measure_samples[0];
}

/* What system_info tells (docs/reference/sdk.md); aligned so that it never crosses a page. */
struct __attribute__((aligned(128))) measure_record {
	char name[32];
	unsigned long values[8];
};
enum { MEASURE_DOMAIN, MEASURE_THREAD, MEASURE_PORTAL, MEASURE_MEMORY, MEASURE_SERVICE };

/* The portal in a slot of this domain. */
static inline void measure_portal(int slot, struct measure_record *record)
{
	measure_good("system_info", system_info(MEASURE_PORTAL, get_asid() * NPORTALS + slot, record));
}
#endif
