/* The system as a C or C++ program sees it: portals, semaphores, threads, domains, memory, time.

   Every function that can fail answers a negative POSIX number (-ENOMEM), also where the C library's own
   functions (write, sbrk) follow their standard and set errno. All addresses that a program meets lie below
   2 GiB, so an `int` carries them: the argument lists of the 1999 paper work as they were printed.
   docs/reference/sdk.md describes each function, docs/reference/fork.md what fork() does to pointers. */
#ifndef PEBBLE_H
#define PEBBLE_H
#pragma GCC system_header

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <pebble/abi.h>
#include <pebble/services.h>

#ifdef __cplusplus
extern "C" {
typedef void *portal_entry;
#else
/* Any function may be a portal's entry. Its arguments are what the portal's specification makes of the
   caller's; its result, an int, a long or nothing, is the caller's. */
typedef union {
	int (*returns_int)();
	long (*returns_long)();
	void (*returns_nothing)();
	void *address;
} portal_entry __attribute__((__transparent_union__));
#endif

/* Portals. The first invokes with an int result, as printed in the paper; the second is for results of 64 bits. */
int invoke_portal(int slot, long p1, long p2, long p3, long p4, long p5);
long invoke_portal_long(long slot, long p1, long p2, long p3, long p4, long p5);

/* Offers a service: whoever opens `name` gets a portal to `entry` as `specification` says. Answers 0. */
int portal_register(const char *name, const char *specification, long constant, portal_entry entry);
/* Opens a service by name; answers the first slot of it. */
int portal_open(const char *name);
int portal_close(int slot);
/* During a call that passed a portal as `word` (letter k): takes it over, answers its slot here. `specification`: what the
   caller said it is. Its argument letters must be the portal's; stack and state letter are this domain's own choice. */
int portal_accept(int word, const char *specification);
/* Puts a portal to a function of this domain into slot `slot` of the child domain `asid`. */
int portal_create_child(int asid, int slot, const char *specification, long constant, portal_entry entry);
/* From now on `function(asid, slot, specification)` runs for every portal that appears in this domain's table,
   before the call that made it returns. */
int portal_notify(int (*function)(int asid, int slot, char *specification));

/* Semaphores: P is portal `semaphore`, V is the one after it. */
int sem_create(int value);
int sem_wait(int semaphore);
int sem_post(int semaphore);
int sem_destroy(int semaphore);
/* As portal_accept, for a semaphore; portal_accept(word, "V") is for the right to V alone. */
int sem_accept(int word);

/* Threads. fork() answers the new thread's number, and 0 in the new thread, which goes on with a copy of the
   stack in the same domain. */
int thread_create(void (*function)(void *), void *argument);
void thread_exit(void) __attribute__((__noreturn__));
int thread_priority(int priority);
int get_thread(void);
int yield(void);

/* Domains. domain_fork() answers the child's number, and 0 in the child: a copy of this domain's memory in which
   every portal leads to `intercept(slot, p1..p5)` in this domain. */
int domain_fork(portal_entry intercept);
int domain_kill(int asid);
int get_asid(void);
/* Puts `count` more stacks into the queue that portals with letter `n` take theirs from. portal_register,
   portal_notify and domain_fork add PEBBLE_QUEUE_STACKS when there are none yet. */
int stack_add(int count);
#define PEBBLE_QUEUE_STACKS 8

/* Memory beyond sbrk: whole pages, zero at first touch. */
void *vm_map(size_t bytes);
int vm_unmap(void *address);
/* A region whose faults the portal registered as `pager` answers, called as pager(cookie, asid, address, access). */
void *vm_pager(size_t bytes, const char *pager, long cookie);
/* A pager's answer: its own page `page` appears at `address` of domain `asid`. */
int vm_supply(int asid, void *address, void *page, long flags);
/* vm_map and vm_pager answer an address or a negative error; this tells them apart. */
#define VM_FAILED(address) ((long)(address) < 0)

/* Time. hrtime counts units of two cycles; hrsleep waits until it reaches `until`. */
unsigned long long hrtime(void);
int hrsleep(unsigned long long until);
unsigned long long time_of_day(void); /* nanoseconds since 1970 */
int sleep_nanoseconds(unsigned long long duration);

/* One record about the system, for inspectors; see docs/reference/sdk.md. The buffer must not cross a page. */
int system_info(int kind, int index, void *buffer);

#ifdef __cplusplus
}

/* C++ has no conversion from a function to `void *`: these take functions of any type. */
template <class Result, class... Arguments>
inline int portal_register(const char *name, const char *specification, long constant, Result (*entry)(Arguments...))
{
	return portal_register(name, specification, constant, reinterpret_cast<void *>(entry));
}
template <class Result, class... Arguments>
inline int portal_create_child(int asid, int slot, const char *specification, long constant,
			       Result (*entry)(Arguments...))
{
	return portal_create_child(asid, slot, specification, constant, reinterpret_cast<void *>(entry));
}
template <class Result, class... Arguments>
inline int domain_fork(Result (*intercept)(Arguments...))
{
	return domain_fork(reinterpret_cast<void *>(intercept));
}
#endif
#endif
