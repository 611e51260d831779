/* Stack slots: which of the domain's stack area are in use, and the thread-local block at the top of each.

   Slot 0 is the main thread's. fork(), thread_create() and the stack queue take the lowest free one. */
#include <string.h>

#include "internal.h"

extern char __tdata_start[], __tdata_size[], __tls_size[];
_Static_assert(PEBBLE_STACK_SLOTS == 32, "one bit per slot in a word of 32");

uint32_t pebble_slots = 1;
static int queue_stacks;

int pebble_slot_take(void)
{
	uint32_t used = __atomic_load_n(&pebble_slots, __ATOMIC_RELAXED);
	do {
		if (used == UINT32_MAX)
			return -EAGAIN;
	} while (!__atomic_compare_exchange_n(&pebble_slots, &used, used | (used + 1), 0, __ATOMIC_ACQUIRE,
					      __ATOMIC_RELAXED));
	return __builtin_ctz(~used);
}

void pebble_slot_release(int slot)
{
	__atomic_fetch_and(&pebble_slots, ~(UINT32_C(1) << slot), __ATOMIC_RELEASE);
}

uintptr_t pebble_slot_top(int slot)
{
	return START_FIELD(PEBBLE_START_STACK_AREA) + (slot + 1) * PEBBLE_STACK_SLOT;
}

int pebble_slot_current(void)
{
	return ((uintptr_t)__builtin_frame_address(0) - START_FIELD(PEBBLE_START_STACK_AREA)) / PEBBLE_STACK_SLOT;
}

void pebble_tls_fill(uintptr_t block)
{
	memcpy((void *)block, __tdata_start, (size_t)__tdata_size);
	memset((void *)(block + (size_t)__tdata_size), 0, (size_t)__tls_size - (size_t)__tdata_size);
}

uintptr_t pebble_tls_create(uintptr_t top)
{
	uintptr_t block = (top - (size_t)__tls_size) & -(uintptr_t)64;
	pebble_tls_fill(block);
	return block;
}

int stack_add(int count)
{
	for (int i = 0; i < count; i++) {
		int slot = pebble_slot_take();
		if (slot < 0)
			return slot;
		int result = CALL2(SYS_STACK_ADD, slot, pebble_tls_create(pebble_slot_top(slot)));
		if (result < 0) {
			pebble_slot_release(slot);
			return result;
		}
		__atomic_fetch_add(&queue_stacks, 1, __ATOMIC_RELAXED);
	}
	return 0;
}

int pebble_stacks_ensure(void)
{
	int none = 0;
	/* One thread adds them; another that comes here meanwhile may go on, its portals wait for a stack. */
	if (!__atomic_compare_exchange_n(&queue_stacks, &none, 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return 0;
	int result = stack_add(PEBBLE_QUEUE_STACKS);
	__atomic_fetch_sub(&queue_stacks, 1, __ATOMIC_RELAXED);
	return result;
}

void pebble_stacks_reset(void)
{
	pebble_slots = UINT32_C(1) << pebble_slot_current();
	queue_stacks = 0;
}
