/* Names as such: the longest, malformed ones, leaf or inner node, how many a component may offer, and the entries
   that belong to the system. */
#include <string.h>

#include "../support/check.h"

static long number(long constant)
{
	return constant;
}

static int offer(const char *name)
{
	return portal_register(name, "nmc", 5, number);
}

int main(void)
{
	/* NAMELEN - 1 bytes are a name, one more is none. */
	char longest[NAMELEN + 1] = "/program/";
	memset(longest + 9, 'x', sizeof longest - 10);
	SAME(offer(longest), -ENAMETOOLONG);
	SAME(portal_open(longest), -ENAMETOOLONG);
	longest[NAMELEN - 1] = 0;
	SAME(strlen(longest), NAMELEN - 1);
	SAME(offer(longest), 0);
	int slot = portal_open(longest);
	CHECK(slot > 0);
	SAME(invoke_portal(slot, 0, 0, 0, 0, 0), 5);
	/* All of its letters count. */
	longest[NAMELEN - 2] = 'y';
	SAME(portal_open(longest), -ENOENT);

	static const char *const malformed[] = { "", "program", "/", "/program//x", "/program/", "/program/*",
						 "/program/a b", "/program/\xff", "//program/x", "/program/a\n" };
	for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
		SAME(offer(malformed[i]), -EINVAL);
		CHECK(portal_open(malformed[i]) == -EINVAL);
	}
	SAME(portal_open("/programs"), -EACCES);
	SAME(portal_open("/program"), -EACCES);

	/* A name is a leaf or an inner node. */
	SAME(offer("/program/a/b"), 0);
	SAME(offer("/program/a/b"), -EEXIST);
	SAME(offer("/program/a"), -EEXIST);
	SAME(offer("/program/a/b/c"), -EEXIST);
	SAME(offer("/program/a/bc"), 0);
	SAME(portal_open("/program/a"), -ENOENT);

	/* Malformed specifications offer nothing: the name stays free. */
	static const char *const specifications[] = { "", "n", "nx", "xm", "nmz", "nmiiiiiiiii", "mn" };
	for (size_t i = 0; i < sizeof specifications / sizeof *specifications; i++)
		SAME(portal_register("/program/free", specifications[i], 0, number), -EINVAL);
	SAME(portal_open("/program/free"), -ENOENT);

	/* Thirty-two names for one component; the thirty-third is refused, and others are not affected. */
	char name[NAMELEN];
	int made = 0, result = 0;
	while (result == 0 && made < 100) {
		snprintf(name, sizeof name, "/program/many/%d", made);
		result = offer(name);
		made += result == 0;
	}
	SAME(result, -EMFILE);
	SAME(made, 32 - 3);
	SAME(invoke_portal(portal_open("/program/many/0"), 0, 0, 0, 0, 0), 5);

	/* The name server's own entries do not obey just anybody. */
	SAME(offer("/name-server/bind"), -EACCES);
	SAME(offer("/name-server/mine"), -EACCES);
	struct __attribute__((aligned(128))) {
		char text[128];
	} rule = { "+open /*" };
	SAME(invoke_portal(portal_open(NAME_ALLOW), get_asid(), (long)&rule, (long)&rule, 0, 0), -EPERM);
	SAME(invoke_portal(portal_open(NAME_BIND), (long)&rule, 1, get_asid(), 0, 0), -EPERM);
	SAME(invoke_portal(portal_open(NAME_LOOKUP), (long)&rule, 1, 0, 0, 0), -EPERM);
	SAME(invoke_portal(portal_open(NAME_UNBIND), 9, 0, 0, 0, 0), -EPERM);
	SAME(invoke_portal(portal_open(NAME_GRANT), get_asid(), (long)&rule, 0, 0, 0), -EACCES);
	SAME(portal_open("/power/off"), -EACCES);
	printf("the console is still there\n");
	return checked(7 + 20 + 2 + 6 + 8 + 3 + 8);
}
