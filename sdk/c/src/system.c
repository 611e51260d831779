/* System services that are one portal call each. */
#include <string.h>

#include "internal.h"

int pebble_name(struct name *name, const char *text)
{
	if (!text)
		return -EFAULT;
	size_t length = strnlen(text, NAMELEN);
	if (length == NAMELEN)
		return -ENAMETOOLONG;
	memcpy(name->text, text, length + 1);
	return 0;
}

int portal_register(const char *name, const char *specification, long constant, portal_entry entry)
{
	struct name names[2];
	int result = pebble_name(&names[0], name);
	if (!result)
		result = pebble_name(&names[1], specification);
	if (!result)
		result = pebble_stacks_ensure();
	return result ? result : CALL4(SYS_PORTAL_REGISTER, &names[0], &names[1], constant, entry.address);
}

int portal_open(const char *name)
{
	struct name copy;
	int result = pebble_name(&copy, name);
	return result ? result : CALL1(SYS_PORTAL_OPEN, &copy);
}

int portal_accept(int word, const char *specification)
{
	struct name copy;
	int result = pebble_name(&copy, specification);
	return result ? result : CALL2(SYS_PORTAL_ACCEPT, word, &copy);
}

int portal_close(int slot)
{
	return CALL1(SYS_PORTAL_CLOSE, slot);
}

int portal_create_child(int asid, int slot, const char *specification, long constant, portal_entry entry)
{
	struct name copy;
	int result = pebble_name(&copy, specification);
	return result ? result : CALL5(SYS_PORTAL_CREATE_CHILD, asid, slot, &copy, constant, entry.address);
}

int portal_notify(int (*function)(int, int, char *))
{
	int result = pebble_stacks_ensure();
	return result ? result : CALL1(SYS_PORTAL_NOTIFY, function);
}

int sem_create(int value)
{
	return CALL1(SYS_SEM_CREATE, value);
}

int sem_accept(int word)
{
	return portal_accept(word, "PV");
}

int sem_destroy(int semaphore)
{
	return CALL1(SYS_SEM_DESTROY, semaphore);
}

int thread_priority(int priority)
{
	return CALL1(SYS_THREAD_PRIORITY, priority);
}

int domain_kill(int asid)
{
	return CALL1(SYS_DOMAIN_KILL, asid);
}

/* The copy of this domain begins with this thread alone, in the middle of this call: the locks that other threads
   might hold are taken first, and given back on both sides. */
int domain_fork(portal_entry intercept)
{
	int result = pebble_stacks_ensure();
	if (result)
		return result;
	pebble_library_lock();
	result = CALL1(SYS_DOMAIN_FORK, intercept.address);
	if (result == 0)
		pebble_stacks_reset();
	pebble_library_unlock();
	return result;
}

int system_info(int kind, int index, void *buffer)
{
	return CALL3(SYS_INFO, kind, index, buffer);
}
