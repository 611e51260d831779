/* The C library's locks. A free lock costs no portal call; a waiter yields, and then sleeps, since yielding alone
   never lets a holder of lower priority run. */
#include "internal.h"

struct __lock {
	uintptr_t owner; /* thread pointer of the holder: each stack has its own */
	unsigned depth;
};
#include <sys/lock.h>

struct __lock __lock___libc_recursive_mutex;

static uintptr_t self(void)
{
	uintptr_t pointer;
	__asm__ volatile("mv %0, tp" : "=r"(pointer));
	return pointer;
}

int __retarget_lock_try_acquire_recursive(_LOCK_T lock)
{
	uintptr_t free = 0;
	if (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) != self() &&
	    !__atomic_compare_exchange_n(&lock->owner, &free, self(), 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return 0;
	lock->depth++;
	return 1;
}

void __retarget_lock_acquire_recursive(_LOCK_T lock)
{
	unsigned tries = 0;
	while (!__retarget_lock_try_acquire_recursive(lock)) {
		if (++tries < 16)
			yield();
		else
			hrsleep(hrtime() + 50000);
	}
}

void __retarget_lock_release_recursive(_LOCK_T lock)
{
	if (--lock->depth == 0)
		__atomic_store_n(&lock->owner, 0, __ATOMIC_RELEASE);
}

void __retarget_lock_init_recursive(_LOCK_T *lock)
{
	*lock = calloc(1, sizeof(struct __lock));
}

void __retarget_lock_close_recursive(_LOCK_T lock)
{
	free(lock);
}

/* A lock that is not recursive is only never taken twice by its user. */
void __retarget_lock_init(_LOCK_T *lock) __attribute__((alias("__retarget_lock_init_recursive")));
void __retarget_lock_close(_LOCK_T lock) __attribute__((alias("__retarget_lock_close_recursive")));
void __retarget_lock_acquire(_LOCK_T lock) __attribute__((alias("__retarget_lock_acquire_recursive")));
int __retarget_lock_try_acquire(_LOCK_T lock) __attribute__((alias("__retarget_lock_try_acquire_recursive")));
void __retarget_lock_release(_LOCK_T lock) __attribute__((alias("__retarget_lock_release_recursive")));

void pebble_library_lock(void)
{
	__retarget_lock_acquire_recursive(&__lock___libc_recursive_mutex);
}

void pebble_library_unlock(void)
{
	__retarget_lock_release_recursive(&__lock___libc_recursive_mutex);
}
