/* A pipe between two threads of one domain: order, blocking both ways, closing. */
#include <pebble.h>
#include <string.h>

#include "check.h"

#define TOTAL 50000

static int pipe_write, pipe_close;

static void writer(void *argument)
{
	static unsigned char buffer[1000];
	(void)argument;
	for (int sent = 0; sent < TOTAL; sent += sizeof buffer) {
		for (size_t i = 0; i < sizeof buffer; i++)
			buffer[i] = (sent + i) * 7;
		for (size_t piece, at = 0; at < sizeof buffer; at += piece) {
			piece = PEBBLE_PAGE - ((uintptr_t)(buffer + at) & (PEBBLE_PAGE - 1));
			if (piece > sizeof buffer - at)
				piece = sizeof buffer - at;
			CHECK(invoke_portal(pipe_write, (long)(buffer + at), piece, 0, 0, 0) == (int)piece);
		}
	}
	CHECK(invoke_portal(pipe_close, PIPE_WRITING_END, 0, 0, 0, 0) == 0);
}

static int open_end(int number, const char *what)
{
	char name[NAMELEN];
	sprintf(name, "/pipe/%d/%s", number, what);
	return portal_open(name);
}

int main(void)
{
	int create = portal_open(PIPE_CREATE);
	CHECK(create > 0);
	int number = invoke_portal(create, 0, 0, 0, 0, 0);
	CHECK(number >= 0);
	int pipe_read = open_end(number, "read");
	pipe_write = open_end(number, "write");
	pipe_close = open_end(number, "close");
	CHECK(pipe_read > 0 && pipe_write > 0 && pipe_close > 0);

	/* Another pipe, which nobody made: the name opens, the pipe refuses. */
	static char buffer[512] __attribute__((aligned(512)));
	int other = open_end(number + 1, "read");
	CHECK(other > 0 && invoke_portal(other, (long)buffer, 5, 0, 0, 0) == -EACCES);

	CHECK(thread_create(writer, NULL) > 0);
	int received = 0, result;
	while ((result = invoke_portal(pipe_read, (long)buffer, sizeof buffer, 0, 0, 0)) > 0) {
		for (int i = 0; i < result; i++)
			CHECK((unsigned char)buffer[i] == (unsigned char)((received + i) * 7));
		received += result;
	}
	CHECK(result == 0 && received == TOTAL);
	CHECK(invoke_portal(pipe_close, PIPE_READING_END, 0, 0, 0, 0) == 0);
	CHECK(invoke_portal(pipe_read, (long)buffer, 5, 0, 0, 0) == -EACCES);
	puts("piped");
	return 0;
}
