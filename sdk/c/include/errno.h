/* The C library's error numbers, with the system's values where picolibc has others of its own. Portals answer
   these numbers negated, so they must be the same; strerror() knows both (src/error.c). */
#ifndef PEBBLE_ERRNO_H
#define PEBBLE_ERRNO_H
#pragma GCC system_header

#include_next <errno.h>

#undef EDEADLK
#undef ENAMETOOLONG
#undef ENOSYS
#undef ELOOP
#undef EOVERFLOW
#undef ETIMEDOUT
#undef EOWNERDEAD
#define EDEADLK 35
#define ENAMETOOLONG 36
#define ENOSYS 38
#define ELOOP 40
#define EOVERFLOW 75
#define ETIMEDOUT 110
#define EOWNERDEAD 130

#endif
