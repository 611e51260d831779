/* Pipes for tests: opening an end, and moving buffers through windows of one page. */
#ifndef PIPE_H
#define PIPE_H

#include <pebble.h>

/* What the peer does for the program. */
#define PEER_SPECIFICATION "nmcii"
enum peer { PEER_NUMBER, PEER_DRAIN, PEER_CLOSE_READING, PEER_CLOSE_WRITING, PEER_SEND };

static inline int pipe_end(int number, const char *what)
{
	char name[NAMELEN];
	snprintf(name, sizeof name, "/pipe/%d/%s", number, what);
	return portal_open(name);
}

/* A checksum that notices order. */
static inline unsigned pipe_sum(unsigned sum, const unsigned char *bytes, long count)
{
	for (long i = 0; i < count; i++)
		sum = (sum ^ bytes[i]) * 16777619u;
	return sum;
}
#endif
