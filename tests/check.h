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

/* A portal call with 64-bit words. With letter m a callee that dies in the middle has not given back the registers that
   it had saved, so this call trusts nobody with them. */
static inline long call(long slot, long p1, long p2, long p3, long p4, long p5)
{
	register long a0 __asm__("a0") = slot;
	register long a1 __asm__("a1") = p1;
	register long a2 __asm__("a2") = p2;
	register long a3 __asm__("a3") = p3;
	register long a4 __asm__("a4") = p4;
	register long a5 __asm__("a5") = p5;
	__asm__ volatile("mv a7, a0\n"
			 "la ra, 1f\n"
			 "ecall\n"
			 "1:"
			 : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4), "+r"(a5)
			 :
			 : "memory", "ra", "a6", "a7", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "s0", "s1", "s2", "s3",
			   "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "ft0", "ft1", "ft2", "ft3", "ft4", "ft5",
			   "ft6", "ft7", "ft8", "ft9", "ft10", "ft11", "fa0", "fa1", "fa2", "fa3", "fa4", "fa5", "fa6",
			   "fa7", "fs0", "fs1", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11");
	return a0;
}

#endif
