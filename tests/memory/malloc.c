/* malloc under load: random sizes, grown and freed in random order by four threads at once; no block overlaps another
   or changes by itself, and what was freed is used again. */
#include <string.h>

#include "../support/check.h"

#define THREADS 4
#define BLOCKS 64
#define ROUNDS 3000

static int ended;
static long damaged, refused;

static void work(void *argument)
{
	unsigned seed = 1 + (long)argument;
	struct {
		unsigned char *bytes;
		size_t length;
		unsigned char value;
	} blocks[BLOCKS] = { 0 };
	for (int i = 0; i < ROUNDS; i++) {
		seed = seed * 1103515245 + 12345;
		int which = seed >> 16 & (BLOCKS - 1);
		size_t length = (seed >> 8) % 3000 + (seed % 50 == 0 ? 20000 : 1);
		for (size_t n = 0; n < blocks[which].length; n++)
			if (blocks[which].bytes[n] != blocks[which].value)
				__atomic_fetch_add(&damaged, 1, __ATOMIC_RELAXED);
		unsigned char *bytes;
		if (seed >> 20 & 1) {
			bytes = realloc(blocks[which].bytes, length);
		} else {
			free(blocks[which].bytes);
			bytes = seed >> 21 & 1 ? calloc(1, length) : malloc(length);
		}
		if (!bytes || (uintptr_t)bytes % sizeof(long)) {
			__atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
			break;
		}
		blocks[which].bytes = bytes;
		blocks[which].length = length;
		blocks[which].value = seed >> 12;
		memset(bytes, blocks[which].value, length);
		if (i % 16 == 0)
			yield();
	}
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i].bytes);
	sem_post(ended);
}

int main(void)
{
	ended = sem_create(0);
	long end[2];
	for (int round = 0; round < 2; round++) {
		for (long i = 0; i < THREADS; i++)
			CHECK(thread_create(work, (void *)(i + round * THREADS)) > 0);
		for (int i = 0; i < THREADS; i++)
			sem_wait(ended);
		end[round] = (long)sbrk(0);
	}
	SAME(damaged, 0);
	SAME(refused, 0);
	/* The second round found room in what the first one freed, but for some fragments. */
	CHECK(end[1] - end[0] < 512 * 1024);
	char *huge = malloc(40 << 20);
	CHECK(huge != NULL);
	memset(huge, 1, 40 << 20);
	free(huge);
	CHECK(malloc(1l << 40) == NULL);
	CHECK((huge = malloc(40 << 20)) != NULL);
	void *aligned = aligned_alloc(4096, 8192);
	SAME((uintptr_t)aligned % 4096, 0);
	return checked(8 + 7);
}
