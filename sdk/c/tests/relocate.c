/* Host test of relocate.h: a chain of frames keeps its shape at another address. Run by `cargo test -p pebble`. */
#include "../src/relocate.h"

#include <stdio.h>

#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition)) {                                            \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			return 1;                                              \
		}                                                              \
	} while (0)

int main(void)
{
	const uint64_t low = 0x44008000, high = 0x44040000, delta = 0x40000;
	uint64_t words[] = { low - 1, low, high - 8, high, 0, UINT64_MAX, 0x100000, -13 };
	CHECK(pebble_relocate(words, 8, low, high, delta) == 2);
	CHECK(words[0] == low - 1 && words[1] == low + delta && words[2] == high - 8 + delta);
	CHECK(words[3] == high && words[4] == 0 && words[5] == UINT64_MAX && words[6] == 0x100000);
	CHECK(words[7] == (uint64_t)-13);

	/* Down as well as up. */
	uint64_t down[] = { low + 16 };
	CHECK(pebble_relocate(down, 1, low, high, -delta) == 1 && down[0] == low + 16 - delta);

	/* Each frame holds the address of the one before. */
	uint64_t stack[256];
	for (size_t i = 0; i < 256; i++)
		stack[i] = i % 8 == 0 && i ? low + (i - 8) * 8 : i * 3;
	CHECK(pebble_relocate(stack, 256, low, low + sizeof(stack), delta) == 31);
	size_t frame = 248;
	while (frame)
		frame = (stack[frame] - low - delta) / 8;
	for (size_t i = 0; i < 256; i++)
		CHECK((i % 8 == 0 && i) || stack[i] == i * 3);
	return 0;
}
