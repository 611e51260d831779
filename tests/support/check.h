/* Checks in a program that runs in the system: what is wrong is told with its line, and counted.

   A program ends with `return checked(N)`: N is the number of checks it must have come to, so that one that was
   skipped is missed. It prints `N checks` when all held, and answers 0; any other outcome is 1. */
#ifndef CHECK_H
#define CHECK_H

#include <pebble.h>

static int checks_made, checks_failed;

/* The condition holds. */
#define CHECK(condition)                                                                     \
	do {                                                                                 \
		__atomic_fetch_add(&checks_made, 1, __ATOMIC_RELAXED);                       \
		if (!(condition)) {                                                          \
			__atomic_fetch_add(&checks_failed, 1, __ATOMIC_RELAXED);             \
			printf("%s:%d: not so: %s\n", __FILE_NAME__, __LINE__, #condition); \
		}                                                                            \
	} while (0)

/* Both are the same number; tells both if not. */
#define SAME(found, expected)                                                                         \
	do {                                                                                          \
		long check_found = (long)(found), check_expected = (long)(expected);                  \
		__atomic_fetch_add(&checks_made, 1, __ATOMIC_RELAXED);                                \
		if (check_found != check_expected) {                                                  \
			__atomic_fetch_add(&checks_failed, 1, __ATOMIC_RELAXED);                      \
			printf("%s:%d: %s is %ld, expected %ld\n", __FILE_NAME__, __LINE__, #found, \
			       check_found, check_expected);                                          \
		}                                                                                     \
	} while (0)

static inline int checked(int expected)
{
	if (checks_made != expected) {
		printf("%d checks made, expected %d\n", checks_made, expected);
		checks_failed++;
	}
	if (!checks_failed)
		printf("%d checks\n", checks_made);
	return checks_failed != 0;
}

/* What system_info tells (abi/src/object.rs, InfoRecord); aligned so that it never crosses a page. */
struct __attribute__((aligned(128))) information {
	char name[32];
	unsigned long values[8];
};
enum { INFO_DOMAIN, INFO_THREAD, INFO_PORTAL, INFO_MEMORY, INFO_SERVICE };

/* One number of a record, or the negative error. */
static inline long information(int kind, int index, int value)
{
	struct information record;
	int result = system_info(kind, index, &record);
	return result < 0 ? result : (long)record.values[value];
}

/* Whether a domain runs. */
static inline int domain_alive(int asid)
{
	long state = information(INFO_DOMAIN, asid, 6);
	return state > 0 && state & 1;
}

/* Waits for a domain's end, some time; answers whether it came. */
static inline int domain_ended(int asid)
{
	for (int i = 0; i < 300 && domain_alive(asid); i++)
		sleep_nanoseconds(1000000);
	return !domain_alive(asid);
}

/* Pages that this domain holds. */
static inline long pages_held(void)
{
	return information(INFO_DOMAIN, get_asid(), 4);
}
#endif
