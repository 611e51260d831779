/* Memory: the heap's end for malloc, regions of whole pages, and pagers. */
#include "internal.h"

void *sbrk(ptrdiff_t bytes)
{
	long old = CALL1(SYS_SBRK, bytes);
	if (old < 0) {
		errno = (int)-old;
		return (void *)-1;
	}
	return (void *)old;
}

void *vm_map(size_t bytes)
{
	return (void *)CALL1(SYS_VM_MAP, bytes);
}

int vm_unmap(void *address)
{
	return CALL1(SYS_VM_UNMAP, address);
}

void *vm_pager(size_t bytes, const char *pager, long cookie)
{
	struct name name;
	int result = pebble_name(&name, pager);
	return result ? (void *)(long)result : (void *)CALL3(SYS_VM_PAGER, bytes, &name, cookie);
}

int vm_supply(int asid, void *address, void *page, long flags)
{
	return CALL4(SYS_VM_SUPPLY, asid, address, page, flags);
}
