/* Rings of processes: a byte, a count or a token goes from each to the next, in every way that Linux offers. */
#ifndef RINGS_H
#define RINGS_H

#include <linux/futex.h>
#include <semaphore.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "measure.h"

#define RING_MOST 8

/* What all processes see. */
static struct shared {
	struct {
		volatile int value;
		char alone[60];
	} futex[RING_MOST];
	sem_t semaphore[RING_MOST];
} *shared;

static int pipes[RING_MOST][2], events[RING_MOST], sockets[RING_MOST][2];
static char byte[1];
static unsigned long count = 1;

static inline void channels_open(void)
{
	for (int i = 0; i < RING_MOST; i++) {
		good("pipe", pipe(pipes[i]));
		good("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, sockets[i]));
		events[i] = good("eventfd", eventfd(0, 0));
		shared->futex[i].value = 0;
		good("sem_init", sem_init(&shared->semaphore[i], 1, 0));
	}
}

static inline void channels_close(void)
{
	for (int i = 0; i < RING_MOST; i++)
		for (int end = 0; end < 2; end++) {
			close(pipes[i][end]);
			close(sockets[i][end]);
			if (end)
				close(events[i]);
		}
}

static inline void pipe_send(int to) { call(SYS_write, pipes[to][1], (long)byte, 1, 0); }
static inline void pipe_receive(int at) { call(SYS_read, pipes[at][0], (long)byte, 1, 0); }
static inline void socketpair_send(int to) { call(SYS_write, sockets[to][1], (long)byte, 1, 0); }
static inline void socketpair_receive(int at) { call(SYS_read, sockets[at][0], (long)byte, 1, 0); }
static inline void eventfd_send(int to) { call(SYS_write, events[to], (long)&count, 8, 0); }
static inline void eventfd_receive(int at) { unsigned long got; call(SYS_read, events[at], (long)&got, 8, 0); }
static inline void semaphore_send(int to) { sem_post(&shared->semaphore[to]); }
static inline void semaphore_receive(int at) { sem_wait(&shared->semaphore[at]); }

static inline void futex_send(int to)
{
	shared->futex[to].value = 1;
	call(SYS_futex, (long)&shared->futex[to].value, FUTEX_WAKE, 1, 0);
}

static inline void futex_receive(int at)
{
	while (!shared->futex[at].value)
		call(SYS_futex, (long)&shared->futex[at].value, FUTEX_WAIT, 0, 0);
	shared->futex[at].value = 0;
}

/* Measures a ring of `size` processes, the measuring one included; one sample is once round. */
#define RING(kind)                                                                        \
	static void kind##_member(int at, int to)                                         \
	{                                                                                 \
		for (;;) {                                                                \
			kind##_receive(at);                                               \
			kind##_send(to);                                                  \
		}                                                                         \
	}                                                                                 \
	static void kind##_ring(int size)                                                 \
	{                                                                                 \
		char name[32];                                                            \
		channels_open();                                                          \
		for (int i = 1; i < size; i++)                                            \
			if (child())                                                      \
				kind##_member(i, (i + 1) % size);                         \
		snprintf(name, sizeof name, #kind "/%d", size);                           \
		MEASURE(name, size, kind##_send(1 % size); kind##_receive(0));            \
		end_children();                                                           \
		channels_close();                                                         \
	}

RING(pipe)
RING(socketpair)
RING(eventfd)
RING(semaphore)
RING(futex)
#endif
