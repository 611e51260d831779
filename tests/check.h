/* Checks for test programs: each failure is one line, and the last line counts them, so that a check that was
   never reached is missed too. Safe to use from several threads. */
#ifndef CHECK_H
#define CHECK_H

#include <pebble.h>
#include <string.h>

static int checks, failures;

static inline int check_equal(const char *file, int line, const char *what, long found, long expected)
{
	__atomic_fetch_add(&checks, 1, __ATOMIC_RELAXED);
	if (found == expected)
		return 1;
	__atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
	const char *name = strrchr(file, '/');
	printf("FAILED %s:%d: %s is %ld (0x%lx), expected %ld\n", name ? name + 1 : file, line, what, found, found,
	       expected);
	return 0;
}

#define EXPECT(what, expected) check_equal(__FILE__, __LINE__, #what, (long)(what), (long)(expected))
#define CHECK(condition) check_equal(__FILE__, __LINE__, #condition, !!(condition), 1)

/* The end of main: the count, and the exit status. */
static inline int check_end(void)
{
	printf("%d checks, %d failed\n", checks, failures);
	return failures ? 1 : 0;
}

/* A portal call with 64-bit words. */
static inline long call(long slot, long p1, long p2, long p3, long p4, long p5)
{
	return invoke_portal_long(slot, p1, p2, p3, p4, p5);
}

#endif
