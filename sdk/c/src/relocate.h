/* Moving a stack: words that point into the old place are made to point into the new one. */
#ifndef PEBBLE_RELOCATE_H
#define PEBBLE_RELOCATE_H

#include <stddef.h>
#include <stdint.h>

/* Adds `delta` to each of `count` words whose value v satisfies low <= v < high; answers how many there were.
   It needs nothing of the system, so that it is tested on the host. */
static inline size_t pebble_relocate(uint64_t *words, size_t count, uint64_t low, uint64_t high, uint64_t delta)
{
	size_t moved = 0;
	for (size_t i = 0; i < count; i++) {
		if (words[i] - low < high - low) {
			words[i] += delta;
			moved++;
		}
	}
	return moved;
}

#endif
