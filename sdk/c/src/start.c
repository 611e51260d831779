/* From the first C instruction to main, and back out: arguments, constructors, exit status. */
#include <string.h>

#include "internal.h"

int main(int argc, char **argv, char **envp);
void __libc_init_array(void);

static char *no_environment[1];

/* Arguments are strings one after the other in the start-information page. They are copied to the stack, since a C
   program may write to them; the component's name comes first. */
void pebble_start(uintptr_t thread_pointer)
{
	pebble_tls_fill(thread_pointer);
	pebble_stdio_start();

	const char *page = (const char *)PEBBLE_START_INFO;
	size_t count = 0, offset = PEBBLE_PAGE;
	if (START_FIELD(0) == PEBBLE_START_MAGIC && START_FIELD(PEBBLE_START_ARGV_OFFSET) < PEBBLE_PAGE) {
		count = START_FIELD(PEBBLE_START_ARGC);
		offset = START_FIELD(PEBBLE_START_ARGV_OFFSET);
	}
	/* Each argument has at least its NUL: the page itself bounds their number. */
	if (count > PEBBLE_PAGE - offset)
		count = PEBBLE_PAGE - offset;

	char name[32 + 1] = { 0 };
	memcpy(name, page + PEBBLE_START_NAME, 32);
	char text[PEBBLE_PAGE - offset + 1];
	memcpy(text, page + offset, PEBBLE_PAGE - offset);
	text[PEBBLE_PAGE - offset] = 0;
	char *arguments[count + 2];
	arguments[0] = name;
	size_t position = 0, stored = 1;
	while (stored <= count && position < PEBBLE_PAGE - offset) {
		arguments[stored++] = text + position;
		position += strlen(text + position) + 1;
	}
	arguments[stored] = NULL;

	__libc_init_array();
	exit(main((int)stored, arguments, no_environment));
}

void _exit(int status)
{
	for (;;)
		CALL1(SYS_EXIT, status & 0xff);
}

/* 128 + SIGABRT, as a shell reports it. */
void abort(void)
{
	fflush(stdout);
	_exit(134);
}

pid_t getpid(void)
{
	return get_asid();
}
