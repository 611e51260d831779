/* The console: whole lines of several threads never mix, buffers and lengths are checked, readers are bounded. */
#include <string.h>

#include "../support/check.h"

#define THREADS 6
#define LINES 40

static int ended, begun;
static char input[PEBBLE_PAGE] __attribute__((aligned(4096)));

static void print(void *argument)
{
	char letter = 'a' + (long)argument;
	char text[61];
	memset(text, letter, 60);
	text[60] = 0;
	for (int i = 0; i < LINES; i++) {
		printf("%s\n", text);
		yield();
	}
	sem_post(ended);
}

static void read_on(void *argument)
{
	(void)argument;
	int in = portal_open(CONSOLE_READ);
	sem_post(begun);
	invoke_portal(in, (long)input, 1, 0, 0, 0);
}

int main(void)
{
	ended = sem_create(0);
	begun = sem_create(0);
	for (long i = 0; i < THREADS; i++)
		CHECK(thread_create(print, (void *)i) > 0);
	for (int i = 0; i < THREADS; i++)
		sem_wait(ended);

	int out = portal_open(CONSOLE_WRITE), in = portal_open(CONSOLE_READ);
	CHECK(out > 0 && in > 0);
	strcpy(input, "written\n");
	SAME(invoke_portal(out, (long)input, 8, 0, 0, 0), 8);
	SAME(invoke_portal(out, (long)input, 0, 0, 0, 0), 0);
	SAME(invoke_portal(out, (long)input + 1, PEBBLE_PAGE, 0, 0, 0), -EINVAL);
	SAME(invoke_portal(out, (long)input, -1, 0, 0, 0), -EINVAL);
	SAME(invoke_portal(out, 0, 1, 0, 0, 0), -EFAULT);
	SAME(invoke_portal(in, (long)input, 0, 0, 0, 0), -EINVAL);
	SAME(invoke_portal(in, (long)"constant", 4, 0, 0, 0), -EFAULT);
	SAME(portal_open(CONSOLE_LOG), -EACCES);

	/* The end of input comes once; afterwards four may wait for more, and others can still write. */
	SAME(invoke_portal(in, (long)input, 10, 0, 0, 0), 0);
	for (int i = 0; i < 4; i++)
		CHECK(thread_create(read_on, NULL) > 0);
	for (int i = 0; i < 4; i++)
		sem_wait(begun);
	sleep_nanoseconds(20000000);
	SAME(invoke_portal(in, (long)input, 1, 0, 0, 0), -EAGAIN);
	fprintf(stderr, "still heard\n");
	return checked(THREADS + 1 + 8 + 1 + 4 + 1);
}
