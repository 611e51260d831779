/* Numbers that components share with the system. Generated from abi/: do not edit. */
#ifndef PEBBLE_ABI_H
#define PEBBLE_ABI_H

#define NPORTALS 512
#define NAMELEN 64
#define PEBBLE_FIRST_DYNAMIC 64

#define SYS_RETURN 0 /* return to the invoking domain */
#define SYS_EXIT 32 /* end the invoking domain */
#define SYS_GET_ASID 33 /* number of the invoking domain */
#define SYS_GET_THREAD 34 /* number of the calling thread */
#define SYS_HRTIME 35 /* cycle counter, in units of two cycles */
#define SYS_TIME_OF_DAY 36 /* nanoseconds since 1970 */
#define SYS_YIELD 37 /* let the next thread of this priority run */
#define SYS_HRSLEEP 38 /* wait until a point in time */
#define SYS_THREAD_EXIT 39 /* end the calling thread */
#define SYS_SEM_CREATE 40 /* make a semaphore */
#define SYS_SEM_DESTROY 41 /* end a semaphore */
#define SYS_SBRK 42 /* grow or shrink the heap */
#define SYS_THREAD_CREATE 43 /* make a thread */
#define SYS_DOMAIN_FORK 44 /* make an interposed copy of the domain */
#define SYS_PORTAL_REGISTER 45 /* offer a service under a name */
#define SYS_PORTAL_OPEN 46 /* open a service by name */
#define SYS_PORTAL_CREATE_CHILD 47 /* put a portal into a child's table */
#define SYS_PORTAL_NOTIFY 48 /* be told of new portals */
#define SYS_STACK_ADD 49 /* put a stack into the stack queue */
#define SYS_PORTAL_CLOSE 50 /* close a portal */
#define SYS_VM_MAP 51 /* map demand-zero pages */
#define SYS_VM_UNMAP 52 /* give a mapped region back */
#define SYS_THREAD_PRIORITY 53 /* change the calling thread's priority */
#define SYS_INFO 54 /* read a record about the system */
#define SYS_VM_PAGER 55 /* map a region with a user-level pager */
#define SYS_VM_SUPPLY 56 /* supply a page as a pager */
#define SYS_DOMAIN_KILL 57 /* end another domain */
#define SYS_PORTAL_ACCEPT 58 /* take over a portal that a call passed */

#ifdef __ASSEMBLER__
#define PEBBLE_UL(value) value
#else
#define PEBBLE_UL(value) value##UL
#endif

#define PEBBLE_PAGE PEBBLE_UL(0x1000)
#define PEBBLE_GATE PEBBLE_UL(0x1010000)
#define PEBBLE_GATE_RETURN PEBBLE_UL(0x1010000)
#define PEBBLE_GATE_THREAD_EXIT PEBBLE_UL(0x1010020)
#define PEBBLE_START_INFO PEBBLE_UL(0x1012000)
#define PEBBLE_IMAGE PEBBLE_UL(0x1100000)
#define PEBBLE_HEAP_LIMIT PEBBLE_UL(0x10000000)
#define PEBBLE_DEVICE PEBBLE_UL(0x400000000)
#define PEBBLE_STACKS PEBBLE_UL(0x40000000)
#define PEBBLE_STACK_AREA PEBBLE_UL(0x800000)
#define PEBBLE_STACK_SLOT PEBBLE_UL(0x40000)
#define PEBBLE_STACK_SLOTS PEBBLE_UL(0x20)
#define PEBBLE_STACK_BOTTOM PEBBLE_UL(0x11000)
#define PEBBLE_USER_LIMIT PEBBLE_UL(0x4000000000)

/* Offsets in the page at PEBBLE_START_INFO, which begins with PEBBLE_START_MAGIC. */
#define PEBBLE_START_MAGIC PEBBLE_UL(0x6973454c42424550)
#define PEBBLE_START_ASID 8
#define PEBBLE_START_STACK_AREA 16
#define PEBBLE_START_FLAGS 24
#define PEBBLE_START_ARGC 32
#define PEBBLE_START_ARGV_OFFSET 40
#define PEBBLE_START_IMAGE_END 48
#define PEBBLE_START_NAME 56

#define PEBBLE_EPERM 1 /* the caller lacks the authority */
#define PEBBLE_ENOENT 2 /* no such name */
#define PEBBLE_ESRCH 3 /* no such domain, thread or portal */
#define PEBBLE_EINTR 4 /* the call was abandoned */
#define PEBBLE_EIO 5 /* a device failed */
#define PEBBLE_E2BIG 7 /* an argument list is too long */
#define PEBBLE_ENOEXEC 8 /* not an executable image */
#define PEBBLE_EBADF 9 /* the portal is not open */
#define PEBBLE_EAGAIN 11 /* busy for the moment */
#define PEBBLE_ENOMEM 12 /* out of memory, or the component's memory limit is reached */
#define PEBBLE_EACCES 13 /* the name server's policy refuses the name */
#define PEBBLE_EFAULT 14 /* a buffer is not memory of the caller, or not usable this way */
#define PEBBLE_EBUSY 16 /* the resource is in use */
#define PEBBLE_EEXIST 17 /* the name or slot is taken */
#define PEBBLE_EINVAL 22 /* an argument is outside its range */
#define PEBBLE_ENFILE 23 /* the system-wide table for this kind of object is full */
#define PEBBLE_EMFILE 24 /* the component's portal table is full */
#define PEBBLE_EPIPE 32 /* the reading end is gone */
#define PEBBLE_EDEADLK 35 /* the call would wait for a stack that this thread itself holds */
#define PEBBLE_ENAMETOOLONG 36 /* the name is longer than NAMELEN - 1 */
#define PEBBLE_ENOSYS 38 /* the portal slot is empty */
#define PEBBLE_ELOOP 40 /* the invocation stack is full: calls nested too deeply */
#define PEBBLE_EOVERFLOW 75 /* a value does not fit */
#define PEBBLE_ETIMEDOUT 110 /* not answered in time */
#define PEBBLE_EOWNERDEAD 130 /* the domain that was called died before it returned */

#endif
