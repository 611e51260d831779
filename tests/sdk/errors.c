/* What bad calls get: an error with a number, and the program goes on. */
#include <pebble.h>
#include <string.h>

#include "check.h"

int main(void)
{
	CHECK(invoke_portal(500, 0, 0, 0, 0, 0) == -ENOSYS);
	CHECK(invoke_portal(NPORTALS + 500, 0, 0, 0, 0, 0) == -ENOSYS); /* the number is taken modulo NPORTALS */
	CHECK(invoke_portal(-1, 0, 0, 0, 0, 0) == -ENOSYS);
	CHECK(invoke_portal(13, 0, 0, 0, 0, 0) == -ENOSYS); /* an exception's slot */
	CHECK(portal_open(NULL) == -EFAULT);
	CHECK(portal_open("/program/not-there") == -ENOENT);
	CHECK(portal_open("/power/off") == -EACCES);
	CHECK(portal_open("/power/not-there") == -EACCES); /* not even whether it exists */
	CHECK(portal_open("no name") < 0);
	char long_name[NAMELEN + 1];
	memset(long_name, 'a', NAMELEN);
	long_name[0] = '/';
	long_name[NAMELEN] = 0;
	CHECK(portal_open(long_name) == -ENAMETOOLONG);
	CHECK(portal_register("/console/write", "nmcri", 0, main) == -EACCES);
	CHECK(portal_register("/program/x", "n", 0, main) < 0);
	CHECK(portal_register("/program/x", "nmq", 0, main) < 0);
	CHECK(portal_create_child(get_asid(), 100, "sm=", 0, main) < 0);
	CHECK(domain_kill(1) < 0);
	CHECK(sem_destroy(300) < 0);
	CHECK(sem_wait(300) == -ENOSYS);
	CHECK(thread_priority(63) < 0);

	/* Windows on what is not the program's memory, or not for writing. */
	int console = portal_open(CONSOLE_WRITE);
	CHECK(console > 0);
	CHECK(invoke_portal(console, 0x0ff00000, 5, 0, 0, 0) == -EFAULT);
	CHECK(invoke_portal_long(console, (long)0xffffffff80000000, 5, 0, 0, 0) == -EFAULT);
	CHECK(invoke_portal(console, (long)"text", 5000, 0, 0, 0) == -EINVAL);

	CHECK(sbrk((ptrdiff_t)1 << 40) == (void *)-1 && errno == ENOMEM);
	CHECK(VM_FAILED(vm_map((size_t)1 << 40)));
	CHECK(vm_unmap((void *)PEBBLE_IMAGE) < 0);
	puts("all as documented");
	return 0;
}
