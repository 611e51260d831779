/* Standard input, output and error: the console's portals, opened when first used.

   Lines go out as they end, so that a program which ends by the bare portal SYS_EXIT loses nothing. */
#include <stdio-bufio.h>

#include "internal.h"

#define BUFFER 1024 /* a power of two no larger than a page, so that an aligned buffer is one window */

static const char *const names[] = { CONSOLE_READ, CONSOLE_WRITE, CONSOLE_ERROR };
static int slots[3];

/* Two threads may both open it at the first use; the portal they find is the same service. */
static int slot_of(int fd)
{
	if (fd < 0 || fd > 2)
		return -EBADF;
	if (!slots[fd]) {
		int slot = portal_open(names[fd]);
		if (slot < 0)
			return slot;
		slots[fd] = slot;
	}
	return slots[fd];
}

/* A window shows one page: longer buffers go piece by piece. */
static ssize_t transfer(int fd, char *buffer, size_t bytes)
{
	int slot = slot_of(fd);
	if (slot < 0) {
		errno = -slot;
		return -1;
	}
	size_t done = 0;
	while (done < bytes) {
		size_t piece = PEBBLE_PAGE - ((uintptr_t)(buffer + done) & (PEBBLE_PAGE - 1));
		if (piece > bytes - done)
			piece = bytes - done;
		long result = CALL2(slot, buffer + done, piece);
		if (result < 0 && !done) {
			errno = (int)-result;
			return -1;
		}
		if (result <= 0)
			break;
		done += result;
		if (fd == 0)
			break; /* input answers with what is there */
	}
	return done;
}

ssize_t write(int fd, const void *buffer, size_t bytes)
{
	return transfer(fd == 0 ? -1 : fd, (char *)buffer, bytes);
}

ssize_t read(int fd, void *buffer, size_t bytes)
{
	return transfer(fd == 0 ? fd : -1, buffer, bytes);
}

static __off_t no_seek(int fd, __off_t offset, int whence)
{
	(void)fd, (void)offset, (void)whence;
	errno = ESPIPE;
	return -1;
}

static int no_close(int fd)
{
	(void)fd;
	return 0;
}

static char buffers[3][BUFFER] __attribute__((aligned(BUFFER)));
#define STREAM(fd, mode) \
	FDEV_SETUP_BUFIO(fd, buffers[fd], BUFFER, read, write, no_seek, no_close, mode, __BLBF)

static struct __file_bufio streams[3] = { STREAM(0, __SRD), STREAM(1, __SWR), STREAM(2, __SWR) };
FILE *const stdin = &streams[0].xfile.cfile.file;
FILE *const stdout = &streams[1].xfile.cfile.file;
FILE *const stderr = &streams[2].xfile.cfile.file;

static struct __lock {
	uintptr_t owner;
	unsigned depth;
} locks[3];

void pebble_stdio_start(void)
{
	for (int fd = 0; fd < 3; fd++)
		streams[fd].lock = &locks[fd];
}

__attribute__((destructor)) static void flush(void)
{
	fflush(stdout);
	fflush(stderr);
}
