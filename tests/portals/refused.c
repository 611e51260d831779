/* What is refused when portals are made, opened, closed and invoked, each with its documented error. */
#include "../servers/protocol.h"

static int entry(void)
{
	return 11;
}

static void specifications(void)
{
	static const char *const bad[] = {
		"",	       "s",	    "n",	  "xm",	      "Sm",	 "sx",	    "sf",	"nf",	     "smq",
		"sm ",	       "smck2",   "smi2",	  "smw0",     "smw9",	 "smw12",   "smw4r4w",	"smwwwwwwwww", "smiiiiiii",
		"npcwiiiii",   "bpt",	    "x",	  "nm\xff",   "nmr8r",	 "nm1",	    "nmc=tdhic",
	};
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
		if (!EXPECT(portal_register("/program/bad", bad[i], 0, entry), -EINVAL))
			printf("  specification `%s`\n", bad[i]);
	static char most[NAMELEN + 8];
	memset(most, 'i', sizeof most - 1);
	EXPECT(portal_register("/program/bad", most, 0, entry), -PEBBLE_ENAMETOOLONG);
	most[NAMELEN - 1] = 0;
	EXPECT(portal_register("/program/bad", most, 0, entry), -EINVAL);
	/* None of them left its name. */
	EXPECT(portal_open("/program/bad"), -ENOENT);
}

static void names(void)
{
	EXPECT(portal_open("/program/nobody"), -ENOENT);
	EXPECT(portal_open("/test/nobody"), -ENOENT);
	EXPECT(portal_open("/power/off"), -EACCES);
	EXPECT(portal_open("/nowhere"), -EACCES);
	EXPECT(portal_open(""), -EINVAL);
	EXPECT(portal_open(NULL), -EFAULT);
	EXPECT(portal_open("/program/0123456789012345678901234567890123456789012345678901234"), -PEBBLE_ENAMETOOLONG);
	EXPECT(portal_register("/test/mine", "nm", 0, entry), -EACCES);
	EXPECT(portal_register("/console/write", "nm", 0, entry), -EACCES);
	EXPECT(portal_register("/name-server/mine", "nm", 0, entry), -EACCES);
	EXPECT(portal_register("/program/mine", "nm", 0, entry), 0);
	EXPECT(portal_register("/program/mine", "nm", 0, entry), -EEXIST);
	/* A name that ends with its page has no end in its window. */
	static char pages[2 * PEBBLE_PAGE] __attribute__((aligned(4096)));
	memset(pages, 'a', sizeof pages);
	EXPECT(call(SYS_PORTAL_OPEN, (long)pages + PEBBLE_PAGE - 8, 0, 0, 0, 0), -EFAULT);
	EXPECT(call(SYS_PORTAL_OPEN, (long)pages, 0, 0, 0, 0), -PEBBLE_ENAMETOOLONG);
	EXPECT(call(SYS_PORTAL_OPEN, 0, 0, 0, 0, 0), -EFAULT);
	EXPECT(call(SYS_PORTAL_OPEN, -1, 0, 0, 0, 0), -EFAULT);
}

static void slots(void)
{
	/* Nothing to return from. */
	EXPECT(call(SYS_RETURN, 0, 0, 0, 0, 0), -PEBBLE_ENOSYS);
	/* Exceptions and interrupts are not for programs to raise. */
	for (int slot = 1; slot < 32; slot++)
		/* Slot 8 is the one of a window's page that is not there: none is. */
		if (!EXPECT(call(slot, 1, 2, 3, 4, 5), slot == 8 ? -EFAULT : -PEBBLE_ENOSYS))
			printf("  slot %d\n", slot);
	/* Those of core servers and drivers. */
	for (int slot = SYS_PORTAL_ACCEPT + 1; slot < PEBBLE_FIRST_DYNAMIC; slot++)
		if (!EXPECT(call(slot, 1, 2, 3, 4, 5), -PEBBLE_ENOSYS))
			printf("  slot %d\n", slot);
	int last = portal_open("/program/mine");
	CHECK(last >= PEBBLE_FIRST_DYNAMIC);
	for (int slot = last + 1; slot < NPORTALS; slot++)
		if (!EXPECT(call(slot, 1, 2, 3, 4, 5), -PEBBLE_ENOSYS))
			printf("  slot %d\n", slot);
	/* Only the low bits of a number count: there is no table beyond. */
	EXPECT(call(-1, 0, 0, 0, 0, 0), -PEBBLE_ENOSYS);
	EXPECT(call(NPORTALS, 0, 0, 0, 0, 0), -PEBBLE_ENOSYS);
	EXPECT(call(1L << 62, 0, 0, 0, 0, 0), -PEBBLE_ENOSYS);
	EXPECT(call((0x7fffffffL * NPORTALS) + SYS_GET_ASID, 0, 0, 0, 0, 0), get_asid());
	EXPECT(call(last, 0, 0, 0, 0, 0), 11);

	/* Closing. */
	EXPECT(portal_close(last), 0);
	EXPECT(call(last, 0, 0, 0, 0, 0), -PEBBLE_ENOSYS);
	EXPECT(portal_close(last), -EBADF);
	EXPECT(portal_close(SYS_EXIT), -EBADF);
	EXPECT(portal_close(0), -EBADF);
	EXPECT(portal_close(-1), -EBADF);
	EXPECT(portal_close(NPORTALS), -EBADF);
	EXPECT(portal_close(1 << 30), -EBADF);
	EXPECT(portal_open("/program/mine"), last);
	EXPECT(call(last, 0, 0, 0, 0, 0), 11);
	EXPECT(portal_close(last), 0);
}

/* A domain's own limits: its names, its portal table. */
static void quotas(void)
{
	char name[NAMELEN];
	int result = 0, count = 1; /* "/program/mine" */
	while (count < 1000) {
		snprintf(name, sizeof name, "/program/%d", count);
		result = portal_register(name, "nm", 0, entry);
		if (result < 0)
			break;
		count++;
	}
	EXPECT(count, 32);
	EXPECT(result, -EMFILE);
	int first = portal_open("/program/mine"), opened = 1;
	while (opened < 1000) {
		result = portal_open("/program/mine");
		if (result < 0)
			break;
		opened++;
	}
	EXPECT(result, -EMFILE);
	EXPECT(first + opened, NPORTALS);
	EXPECT(sem_create(0), -EMFILE);
	EXPECT(call(NPORTALS - 1, 0, 0, 0, 0, 0), 11);
	/* One given back can be had again; a semaphore needs two. */
	EXPECT(portal_close(first + 3), 0);
	EXPECT(sem_create(0), -EMFILE);
	EXPECT(portal_close(first + 4), 0);
	EXPECT(sem_create(0), first + 3);
	for (int slot = first; slot < NPORTALS; slot++)
		if (slot != first + 3 && slot != first + 4)
			portal_close(slot);
	EXPECT(sem_destroy(first + 3), 0);
	EXPECT(sem_destroy(first + 3), -EINVAL);
	EXPECT(portal_open("/program/mine"), first);
}

int main(void)
{
	printf("start\n"); /* opens the console, before the slots are counted */
	specifications();
	names();
	slots();
	quotas();
	return check_end();
}
