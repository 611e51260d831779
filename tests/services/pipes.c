/* Pipes between two domains: a large transfer with a checksum, blocking both ways, closing from each side, who may
   use them, how many there are. */
#include <string.h>

#include "../support/check.h"
#include "pipe.h"

#define TOTAL (1 << 20)

static int peer, peer_number, ended;
static int drained, wrote;
static unsigned char page[PEBBLE_PAGE] __attribute__((aligned(4096)));

static int ask(enum peer what, int number)
{
	return invoke_portal(peer, what, number, 0, 0, 0);
}

static void drain(void *number)
{
	drained = ask(PEER_DRAIN, (long)number);
	sem_post(ended);
}

/* Fills the pipe until it blocks, and on until something ends it. */
static void flood(void *end)
{
	do
		wrote = invoke_portal((long)end, (long)page, PEBBLE_PAGE, 0, 0, 0);
	while (wrote > 0);
	sem_post(ended);
}

int main(void)
{
	for (int i = 0; i < 200 && (peer = portal_open("/agent/peer")) == -ENOENT; i++)
		sleep_nanoseconds(1000000);
	CHECK(peer > 0);
	ended = sem_create(0);
	peer_number = ask(PEER_NUMBER, 0);
	int create = portal_open(PIPE_CREATE);
	int number = invoke_portal(create, peer_number, 0, 0, 0, 0);
	CHECK(number >= 0);
	int in = pipe_end(number, "write"), out = pipe_end(number, "read"), close = pipe_end(number, "close");
	CHECK(in > 0 && out > 0 && close > 0);

	/* One mebibyte to the peer, in pieces of all sizes up to a page. */
	CHECK(thread_create(drain, (void *)(long)number) > 0);
	unsigned sum = 0, seed = 7;
	int refused = 0;
	for (long sent = 0, size; sent < TOTAL; sent += size) {
		size = 1 + (seed >> 12) % PEBBLE_PAGE;
		for (long i = 0; i < size; i++)
			page[i] = (seed = seed * 1103515245 + 12345) >> 16;
		sum = pipe_sum(sum, page, size);
		refused += invoke_portal(in, (long)page, size, 0, 0, 0) != size;
	}
	SAME(refused, 0);
	SAME(invoke_portal(close, PIPE_WRITING_END, 0, 0, 0, 0), 0);
	sem_wait(ended);
	SAME(drained, sum & 0x7fffffff);
	SAME(ask(PEER_CLOSE_READING, number), 0);
	SAME(invoke_portal(close, PIPE_WRITING_END, 0, 0, 0, 0), -EACCES);

	/* The other way, and the end after what was left. */
	number = invoke_portal(create, peer_number, 0, 0, 0, 0);
	SAME(ask(PEER_SEND, number), 13);
	SAME(ask(PEER_CLOSE_WRITING, number), 0);
	SAME(invoke_portal(out, (long)page, 100, 0, 0, 0), 13);
	SAME(memcmp(page, "from the peer", 13), 0);
	SAME(invoke_portal(out, (long)page, 100, 0, 0, 0), 0);
	SAME(ask(PEER_SEND, number), -EBADF);
	SAME(invoke_portal(close, PIPE_READING_END, 0, 0, 0, 0), 0);

	/* A writer that waits for room learns that the reader is gone; so does one that comes later. */
	number = invoke_portal(create, peer_number, 0, 0, 0, 0);
	CHECK(thread_create(flood, (void *)(long)in) > 0);
	sleep_nanoseconds(20000000);
	/* One may wait at an end. */
	SAME(invoke_portal(in, (long)page, 1, 0, 0, 0), -EAGAIN);
	SAME(ask(PEER_CLOSE_READING, number), 0);
	sem_wait(ended);
	SAME(wrote, -EPIPE);
	SAME(invoke_portal(in, (long)page, 1, 0, 0, 0), -EPIPE);
	SAME(invoke_portal(close, PIPE_WRITING_END, 0, 0, 0, 0), 0);

	/* Bad calls. */
	number = invoke_portal(create, 0, 0, 0, 0, 0);
	SAME(ask(PEER_SEND, number), -EACCES);
	SAME(invoke_portal(in, (long)page, 0, 0, 0, 0), -EINVAL);
	SAME(invoke_portal(in, (long)page + 1, PEBBLE_PAGE, 0, 0, 0), -EINVAL);
	SAME(invoke_portal(in, 0x20000000, 4, 0, 0, 0), -EFAULT);
	SAME(invoke_portal(out, (long)"read-only", 4, 0, 0, 0), -EFAULT);
	SAME(invoke_portal(close, 2, 0, 0, 0, 0), -EINVAL);
	SAME(portal_open("/pipe/8/read"), -ENOENT);

	/* Eight at one time; a closed one makes room. */
	for (int i = 1; i < 8; i++)
		CHECK(invoke_portal(create, 0, 0, 0, 0, 0) >= 0);
	SAME(invoke_portal(create, 0, 0, 0, 0, 0), -ENFILE);
	SAME(invoke_portal(close, PIPE_READING_END, 0, 0, 0, 0), 0);
	SAME(invoke_portal(close, PIPE_WRITING_END, 0, 0, 0, 0), 0);
	SAME(invoke_portal(create, 0, 0, 0, 0, 0), number);
	return checked(4 + 5 + 7 + 6 + 7 + 7 + 4);
}
