/* errno belongs to a thread: of a thread made by thread_create, by fork, and of a portal's entry. Texts for the numbers. */
#include <string.h>

#include "../support/check.h"

#define ROUNDS 200
static int ended, mixed;

static void spoil(void *argument)
{
	int own = (long)argument;
	for (int i = 0; i < ROUNDS; i++) {
		errno = own;
		yield();
		if (errno != own)
			__atomic_fetch_add(&mixed, 1, __ATOMIC_RELAXED);
	}
	sem_post(ended);
}

int main(void)
{
	ended = sem_create(0);
	errno = 0;
	CHECK(thread_create(spoil, (void *)11) > 0);
	CHECK(thread_create(spoil, (void *)22) > 0);
	errno = 33;
	int thread = fork();
	if (thread == 0) {
		CHECK(errno == 33); /* the parent's value at the fork */
		spoil((void *)44);
		thread_exit();
	}
	CHECK(thread > 0);
	for (int i = 0; i < 3; i++)
		sem_wait(ended);
	SAME(mixed, 0);
	SAME(errno, 33);
	SAME((long)sbrk(1l << 40), -1);
	SAME(errno, ENOMEM);
	SAME(write(9, "x", 1), -1);
	SAME(errno, EBADF);

	/* The system's numbers and the C library's names are the same thing. */
	SAME(sem_wait(400), -ENOSYS);
	static const int numbers[] = { EPERM,  ENOENT, ESRCH,  EINTR,	EIO,	E2BIG,	      ENOEXEC, EBADF,	  EAGAIN,
				       ENOMEM, EACCES, EFAULT, EBUSY,	EEXIST, EINVAL,	      ENFILE,  EMFILE,	  EPIPE,
				       EDEADLK, ENAMETOOLONG, ENOSYS, ELOOP, EOVERFLOW, ETIMEDOUT, EOWNERDEAD };
	static const int system[] = { PEBBLE_EPERM,  PEBBLE_ENOENT,	  PEBBLE_ESRCH,	     PEBBLE_EINTR,
				      PEBBLE_EIO,    PEBBLE_E2BIG,	  PEBBLE_ENOEXEC,    PEBBLE_EBADF,
				      PEBBLE_EAGAIN, PEBBLE_ENOMEM,	  PEBBLE_EACCES,     PEBBLE_EFAULT,
				      PEBBLE_EBUSY,  PEBBLE_EEXIST,	  PEBBLE_EINVAL,     PEBBLE_ENFILE,
				      PEBBLE_EMFILE, PEBBLE_EPIPE,	  PEBBLE_EDEADLK,    PEBBLE_ENAMETOOLONG,
				      PEBBLE_ENOSYS, PEBBLE_ELOOP,	  PEBBLE_EOVERFLOW,  PEBBLE_ETIMEDOUT,
				      PEBBLE_EOWNERDEAD };
	int wrong = 0, same_text = 0;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		wrong += numbers[i] != system[i] || strlen(strerror(numbers[i])) < 3;
		for (size_t j = 0; j < i; j++)
			same_text += !strcmp(strerror(numbers[i]), strerror(numbers[j]));
	}
	SAME(wrong, 0);
	SAME(same_text, 0);
	return checked(13);
}
