/* The other end of a pipe, in a domain of its own; it works in the thread of the program that asks it. */
#include "pipe.h"

static unsigned char buffer[PEBBLE_PAGE] __attribute__((aligned(4096)));

/* do(constant, what, number of the pipe) */
static long serve(long constant, long what, long number)
{
	(void)constant;
	unsigned sum = 0;
	long count;
	switch (what) {
	case PEER_NUMBER:
		return get_asid();
	case PEER_DRAIN: {
		int end = pipe_end(number, "read");
		/* Odd sizes, so that pieces never fit those of the writer. */
		for (long size = 1; (count = invoke_portal(end, (long)buffer, size, 0, 0, 0)) > 0; size = size % 4001 + 97)
			sum = pipe_sum(sum, buffer, count);
		return count < 0 ? count : (long)(sum & 0x7fffffff);
	}
	case PEER_CLOSE_READING:
		return invoke_portal(pipe_end(number, "close"), PIPE_READING_END, 0, 0, 0, 0);
	case PEER_CLOSE_WRITING:
		return invoke_portal(pipe_end(number, "close"), PIPE_WRITING_END, 0, 0, 0, 0);
	case PEER_SEND:
		return invoke_portal(pipe_end(number, "write"), (long)"from the peer", 13, 0, 0, 0);
	}
	return -EINVAL;
}

int main(void)
{
	if (portal_register("/agent/peer", PEER_SPECIFICATION, 0, serve) < 0)
		return 1;
	for (;;)
		sem_wait(sem_create(0));
}
