/* What the files of the C SDK share among themselves. */
#ifndef PEBBLE_INTERNAL_H
#define PEBBLE_INTERNAL_H

#include <pebble.h>

#include "relocate.h"

/* Calls with one, two, or all arguments. */
#define CALL0(slot) invoke_portal_long(slot, 0, 0, 0, 0, 0)
#define CALL1(slot, a) invoke_portal_long(slot, (long)(a), 0, 0, 0, 0)
#define CALL2(slot, a, b) invoke_portal_long(slot, (long)(a), (long)(b), 0, 0, 0)
#define CALL3(slot, a, b, c) invoke_portal_long(slot, (long)(a), (long)(b), (long)(c), 0, 0)
#define CALL4(slot, a, b, c, d) invoke_portal_long(slot, (long)(a), (long)(b), (long)(c), (long)(d), 0)
#define CALL5(slot, a, b, c, d, e) \
	invoke_portal_long(slot, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))

/* A field of the start-information page. */
#define START_FIELD(offset) (*(const volatile uint64_t *)(PEBBLE_START_INFO + (offset)))

/* A name or specification travels in a window of one page; aligned so, it never crosses a page. */
struct name {
	char text[NAMELEN];
} __attribute__((aligned(NAMELEN)));
/* Copies a name; answers 0, -EFAULT for NULL or -ENAMETOOLONG. */
int pebble_name(struct name *name, const char *text);

/* Stack slots (stack.c). */
int pebble_slot_take(void);
void pebble_slot_release(int slot);
int pebble_slot_current(void);
uintptr_t pebble_slot_top(int slot);
/* Makes a thread-local block below `top`; answers its address, which is also the top of the stack proper. */
uintptr_t pebble_tls_create(uintptr_t top);
void pebble_tls_fill(uintptr_t block);
/* Sees to it that portals with letter `n` find stacks. */
int pebble_stacks_ensure(void);
/* In a domain_fork child only the calling thread's stack is in use. */
void pebble_stacks_reset(void);
/* Only slots whose threads and portals are the system's to end use this word; thread.S clears bits in it. */
extern uint32_t pebble_slots;

void pebble_stdio_start(void);
/* Held across domain_fork, so that the child does not inherit a lock of a thread that it does not have. */
void pebble_library_lock(void);
void pebble_library_unlock(void);

#endif
