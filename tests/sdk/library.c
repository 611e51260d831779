/* The C library on the SDK: memory, text, numbers, time, input, the order of things at the end. */
#include <pebble.h>
#include <string.h>
#include <time.h>

#include "check.h"

static void first(void)
{
	puts("at exit: first");
}

static void second(void)
{
	puts("at exit: second");
}

int main(void)
{
	/* Memory: blocks keep their contents while the heap grows and is reused. */
	char *blocks[200];
	for (int i = 0; i < 200; i++) {
		blocks[i] = malloc(i * 37 + 1);
		CHECK(blocks[i]);
		memset(blocks[i], i, i * 37 + 1);
	}
	for (int i = 0; i < 200; i += 2)
		free(blocks[i]);
	for (int i = 1; i < 200; i += 2) {
		blocks[i] = realloc(blocks[i], 8000);
		CHECK(blocks[i] && blocks[i][0] == (char)i && blocks[i][i * 37] == (char)i);
	}
	CHECK(!malloc((size_t)1 << 40) && errno == ENOMEM);

	char text[100];
	CHECK(sprintf(text, "%5.2f|%-6s|%08x|%llu", 3.14159, "ab", 0xbeef, 1ULL << 63) == 41);
	CHECK(!strcmp(text, " 3.14|ab    |0000beef|9223372036854775808"));
	double number;
	int count;
	CHECK(sscanf("2.5e3 17", "%lf %d", &number, &count) == 2 && number == 2500 && count == 17);

	unsigned long long before = time_of_day(), ticks = hrtime();
	CHECK(!sleep_nanoseconds(2000000));
	CHECK(time_of_day() - before >= 2000000 && hrtime() > ticks);
	ticks = hrtime();
	CHECK(!hrsleep(ticks + 100000) && hrtime() >= ticks + 100000);
	CHECK(time(NULL) > 1700000000); /* the clock driver has set the time of day */

	CHECK(write(7, "x", 1) == -1 && errno == EBADF);
	CHECK(write(0, "x", 1) == -1 && errno == EBADF);

	CHECK(!strcmp(strerror(ENOSYS), "Function not implemented") && strlen(strerror(ENOENT)) > 3);

	char line[64];
	CHECK(fgets(line, sizeof line, stdin) && !strcmp(line, "first line\n"));
	CHECK(scanf("%d", &count) == 1 && count == 42);
	CHECK(getchar() == '\n' && getchar() == EOF);

	/* A buffer across pages, from memory that is not the library's own. */
	static char large[3 * PEBBLE_PAGE] __attribute__((aligned(4096)));
	memset(large, 'a', sizeof large);
	large[sizeof large - 1] = '\n';
	CHECK(write(1, large + 100, sizeof large - 100) == (ssize_t)sizeof large - 100);

	atexit(second);
	atexit(first);
	printf("no newline at the end");
	return 256 + 7;
}
