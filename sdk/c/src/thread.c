/* Threads: fork() by a copy of the stack, thread_create() by an empty one. */
#include <string.h>

#include "internal.h"

void pebble_fork_child(void);
void pebble_thread_entry(void);
void pebble_leave(uint32_t *slots, uint32_t mask) __attribute__((noreturn));

#define TRIES 10
#define PAUSE 200000 /* units of hrtime */

/* A thread that has ended is not quite gone for a moment. Its slot is refused with -EEXIST: others are tried, and
   the refused ones are free again afterwards. It also still counts in the domain's number of threads: -EAGAIN is believed
   only when it stays so. */
static int start(void (*entry)(void), uintptr_t (*prepare)(int slot, void *context), void *context)
{
	uint32_t refused = 0;
	int result, tries = 0;
	do {
		if (tries)
			hrsleep(hrtime() + PAUSE);
		int slot = pebble_slot_take();
		if (slot < 0) {
			result = slot;
			break;
		}
		uintptr_t stack = prepare(slot, context);
		/* Every slot is laid out alike: the thread pointer is where the block of the slot begins. */
		uintptr_t pointer;
		__asm__("mv %0, tp" : "=r"(pointer));
		uintptr_t own_top = (pointer + PEBBLE_STACK_SLOT - 1) & -PEBBLE_STACK_SLOT;
		pointer += pebble_slot_top(slot) - own_top;
		result = CALL4(SYS_THREAD_CREATE, entry, stack, 0, pointer);
		if (result == -EAGAIN) {
			pebble_slot_release(slot);
			tries++;
		} else if (result < 0) {
			refused |= UINT32_C(1) << slot;
		}
	} while (result == -EEXIST || (result == -EAGAIN && tries < TRIES));
	__atomic_fetch_and(&pebble_slots, ~refused, __ATOMIC_RELEASE);
	return result;
}

struct function {
	void (*function)(void *);
	void *argument;
};

static uintptr_t prepare_function(int slot, void *context)
{
	struct function *stack = (struct function *)pebble_tls_create(pebble_slot_top(slot)) - 1;
	*stack = *(struct function *)context;
	return (uintptr_t)stack;
}

int thread_create(void (*function)(void *), void *argument)
{
	struct function context = { function, argument };
	return start(pebble_thread_entry, prepare_function, &context);
}

struct frame {
	char *bottom;
	char *words;
};

/* Copies from fork's frame to the top of the slot, the thread-local block with it, and makes the copy's pointers
   into the old range point into the new one. */
static uintptr_t prepare_copy(int slot, void *context)
{
	struct frame *frame = context;
	uintptr_t bottom = (uintptr_t)frame->bottom;
	uintptr_t top = (bottom + PEBBLE_STACK_SLOT - 1) & -PEBBLE_STACK_SLOT;
	uintptr_t delta = pebble_slot_top(slot) - top;
	memcpy((void *)(bottom + delta), frame->bottom, top - bottom);
	uintptr_t words = (uintptr_t)frame->words;
	pebble_relocate((uint64_t *)(words + delta), (top - words) / sizeof(uint64_t), bottom, top, delta);
	return bottom + delta;
}

/* Called by fork (thread.S) with its frame, whose part from `words` on may hold addresses. */
int pebble_fork(char *bottom, char *words)
{
	struct frame context = { bottom, words };
	return start(pebble_fork_child, prepare_copy, &context);
}

void thread_exit(void)
{
	pebble_leave(&pebble_slots, ~(UINT32_C(1) << pebble_slot_current()));
}
