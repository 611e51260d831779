/* Windows of one to eight pages, straddling buffers, pages that are not there yet. */
#include "../servers/protocol.h"

#define SERVER "/test/server"
#define PAGE ((long)PEBBLE_PAGE)

static char memory[12 * PEBBLE_PAGE] __attribute__((aligned(4096)));

static void sizes(void)
{
	for (int i = 0; i < 12 * PAGE; i++)
		memory[i] = 1 + i / PAGE;
	for (int pages = 1; pages <= 8; pages++) {
		char text[16];
		for (int kind = 0; kind < 2; kind++) {
			static const char *const kinds[] = { "nm", "sp" };
			snprintf(text, sizeof text, "%scr%di", kinds[kind], pages);
			int slot = offered(SERVER, text, 0, SUM);
			/* Every byte of the pages, beginning with the one that the buffer begins in. */
			EXPECT(call(slot, (long)memory + PAGE, pages * PAGE, 0, 0, 0), PAGE * (pages * (pages + 3) / 2));
			/* A buffer that straddles: from the last bytes of one page into the last page shown. */
			if (pages > 1)
				EXPECT(call(slot, (long)memory + 2 * PAGE - 3, 6, 0, 0, 0), 3 * 2 + 3 * 3);
			portal_close(slot);
		}
	}
	int slot = offered(SERVER, "nmcw2ii", 0, FILL);
	EXPECT(call(slot, (long)memory + PAGE - 10, 20, 99, 0, 0), 20);
	int filled = 0;
	for (int i = 0; i < 12 * PAGE; i++)
		filled += memory[i] == 99;
	EXPECT(filled, 20);
	EXPECT(memory[PAGE - 11], 1);
	EXPECT(memory[PAGE + 10], 2);
	portal_close(slot);
}

static void fresh_pages(void)
{
	/* Demand-zero, not touched yet: for reading and for writing. */
	char *region = vm_map(4 * PAGE);
	CHECK(!VM_FAILED(region));
	int sum = offered(SERVER, "nmcr2i", 0, SUM), fill = offered(SERVER, "nmcw2ii", 0, FILL);
	EXPECT(call(sum, (long)region, 2 * PAGE, 0, 0, 0), 0);
	EXPECT(call(fill, (long)region + 2 * PAGE, 2 * PAGE, 3, 0, 0), 2 * PAGE);
	EXPECT(call(sum, (long)region + 2 * PAGE, 2 * PAGE, 0, 0, 0), 2 * PAGE * 3);
	EXPECT(region[4 * PAGE - 1], 3);
	EXPECT(vm_unmap(region), 0);
	EXPECT(call(sum, (long)region, 8, 0, 0, 0), -EFAULT);
	/* Constants are read-only memory: shown for reading, refused for writing. */
	static const char constant[32] __attribute__((aligned(32))) = "in read-only memory";
	int narrow_sum = offered(SERVER, "nmcri", 0, SUM), narrow_fill = offered(SERVER, "nmcwii", 0, FILL);
	CHECK(call(narrow_sum, (long)constant, 8, 0, 0, 0) > 0);
	EXPECT(call(narrow_fill, (long)constant, 8, 1, 0, 0), -EFAULT);
	EXPECT(call(narrow_fill, (long)fresh_pages, 8, 1, 0, 0), -EFAULT);
	EXPECT(constant[0], 'i');
	portal_close(sum), portal_close(fill), portal_close(narrow_sum), portal_close(narrow_fill);
}

int main(void)
{
	sizes();
	fresh_pages();
	return check_end();
}
