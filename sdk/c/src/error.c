/* Texts for the system's error numbers, which differ from picolibc's own above 34. */
#include <string.h>

#include "internal.h"

/* `errno.h` is written by hand: it must say what abi/ says. */
#define SAME(name) _Static_assert(name == PEBBLE_##name, #name " of errno.h and pebble/abi.h")
SAME(EPERM);
SAME(ENOENT);
SAME(ESRCH);
SAME(EINTR);
SAME(EIO);
SAME(E2BIG);
SAME(ENOEXEC);
SAME(EBADF);
SAME(EAGAIN);
SAME(ENOMEM);
SAME(EACCES);
SAME(EFAULT);
SAME(EBUSY);
SAME(EEXIST);
SAME(EINVAL);
SAME(ENFILE);
SAME(EMFILE);
SAME(EPIPE);
SAME(EDEADLK);
SAME(ENAMETOOLONG);
SAME(ENOSYS);
SAME(ELOOP);
SAME(EOVERFLOW);
SAME(ETIMEDOUT);
SAME(EOWNERDEAD);

char *__real_strerror(int number);

/* The linker puts this in strerror's place (flags.toml). */
char *__wrap_strerror(int number)
{
	switch (number) {
	case EDEADLK:
		return "Deadlock";
	case ENAMETOOLONG:
		return "Name too long";
	case ENOSYS:
		return "Function not implemented";
	case ELOOP:
		return "Calls nested too deeply";
	case EOVERFLOW:
		return "Value does not fit";
	case ETIMEDOUT:
		return "Timed out";
	case EOWNERDEAD:
		return "The domain that was called died";
	default:
		return __real_strerror(number);
	}
}
