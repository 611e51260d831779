/* Timer latency under Linux: how late a process goes on that sleeps until a random point in time. */
#ifndef LATENCY_H
#define LATENCY_H

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include "rings.h"

static unsigned next_random(void)
{
	static unsigned state = 0x2545f491;
	state ^= state << 13;
	state ^= state >> 17;
	return state ^= state << 5;
}

static unsigned long nanoseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ul + now.tv_nsec;
}

/* Cycles at nanosecond 0: both count at the same rate in virtual time, the clock in steps of the timebase; the largest
   difference seen is at the beginning of a step. */
static long cycles_minus_nanoseconds(void)
{
	long least = 0;
	for (int i = 0; i < 5000; i++) {
		unsigned long time, cycle;
		/* The timebase counts tenths of microseconds on this machine; one instruction lies between. */
		__asm__ volatile("rdtime %0\n\trdcycle %1" : "=r"(time), "=r"(cycle)::"memory");
		long difference = (long)(cycle - 1) - (long)(100 * time);
		if (i == 0 || difference < least)
			least = difference;
		for (volatile unsigned j = next_random() % 37; j; j--)
			;
	}
	for (;;) {
		unsigned long before, after, now;
		__asm__ volatile("rdtime %0" : "=r"(before)::"memory");
		now = nanoseconds();
		__asm__ volatile("rdtime %0" : "=r"(after)::"memory");
		if (before == after)
			return least + (long)(100 * before) - (long)now;
	}
}

static void latency(const char *background)
{
	char name[32];
	/* Wake-ups as exact as the system can make them. */
	good("prctl", prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0));
	long offset = cycles_minus_nanoseconds();
	for (int i = -MEASURE_WARM; i < measure_iterations; i++) {
		unsigned long until = nanoseconds() + 20000 + next_random() % 80000;
		struct timespec at = { until / 1000000000, until % 1000000000 };
		call(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, (long)&at, 0);
		long late = (long)cycles() - offset - (long)until;
		if (i >= 0)
			measure_samples[i] = late;
	}
	snprintf(name, sizeof name, "latency/%s", background);
	measure_tell(name, 1, measure_iterations, 0);
}

/* What runs behind, in processes of the ordinary class. */
static void backgrounds(void (*measure)(const char *))
{
	measure("idle");
	if (child())
		for (;;)
			__asm__ volatile("");
	measure("user");
	end_children();
	if (child())
		for (;;)
			call(SYS_getppid, 0, 0, 0, 0);
	measure("null");
	end_children();
	channels_open();
	if (child())
		pipe_member(1, 0);
	if (child())
		for (;;) {
			pipe_send(1);
			pipe_receive(0);
		}
	measure("pipe");
	end_children();
	channels_close();
	for (int i = 0; i < 2; i++)
		if (child())
			for (;;)
				call(SYS_sched_yield, 0, 0, 0, 0);
	measure("yield");
	end_children();
}
#endif
