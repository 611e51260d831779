/* Who may open and offer what: rules of the description, grants, delegation to a third party, and what remains of
   them when somebody is gone. */
#include <string.h>

#include "../support/check.h"
#include "agent.h"

static int owner, third, heir;

static int find(const char *name)
{
	int slot = -ENOENT;
	for (int i = 0; i < 200 && slot == -ENOENT; i++) {
		slot = portal_open(name);
		if (slot < 0)
			sleep_nanoseconds(1000000);
	}
	return slot;
}

static int ask(int agent, enum operation operation, const char *text, long number)
{
	struct text copy = { 0 };
	strcpy(copy.text, text);
	return invoke_portal(agent, operation, (long)&copy, number, 0, 0);
}

int main(void)
{
	owner = find("/agent/owner");
	third = find("/agent/third");
	heir = find("/agent/heir");
	CHECK(owner > 0 && third > 0 && heir > 0);
	int me = get_asid(), third_number = ask(third, NUMBER, "", 0);
	CHECK(third_number > 0 && third_number != me);

	/* Whoever may not open a name does not learn whether it exists. */
	SAME(portal_open("/shop/a"), -EACCES);
	SAME(ask(owner, REGISTER, "/shop/a", 41), 0);
	SAME(portal_open("/shop/a"), -EACCES);
	SAME(portal_register("/shop/b", "nmc", 0, main), -EACCES);
	SAME(ask(third, REGISTER, "/shop/b", 0), -EACCES);
	SAME(ask(heir, REGISTER, "/shop/a", 42), -EEXIST);

	/* The right to decide is not the right to open, not even one's own. */
	SAME(ask(owner, OPEN, "/shop/a", 0), -EACCES);
	SAME(ask(owner, GRANT, "+open /shop/a", me), 0);
	int a = portal_open("/shop/a");
	CHECK(a > 0);
	SAME(invoke_portal(a, 0, 0, 0, 0, 0), 41);
	SAME(portal_open("/shop/b"), -EACCES);
	SAME(ask(third, OPEN, "/shop/a", 0), -EACCES);
	/* Nobody decides about what is not theirs. */
	SAME(ask(third, GRANT, "+open /shop/a", third_number), -EACCES);
	SAME(ask(owner, GRANT, "+open /power/off", me), -EACCES);
	SAME(ask(owner, GRANT, "+open /*", me), -EACCES);

	/* A third party decides about a part, without any right to use it. */
	SAME(ask(owner, DELEGATE, "/shop/cheap/*", third_number), 0);
	SAME(ask(owner, REGISTER, "/shop/cheap/x", 7), 0);
	SAME(ask(third, OPEN, "/shop/cheap/x", 0), -EACCES);
	SAME(ask(third, GRANT, "+open /shop/*", me), -EACCES);
	SAME(portal_open("/shop/cheap/x"), -EACCES);
	SAME(ask(third, GRANT, "+open /shop/cheap/*", me), 0);
	int x = portal_open("/shop/cheap/x");
	CHECK(x > 0);
	SAME(invoke_portal(x, 0, 0, 0, 0, 0), 7);
	SAME(portal_open("/shop/cheap/y"), -ENOENT);
	/* And may hand that on, but no more than that. */
	SAME(ask(third, DELEGATE, "/shop/cheap/*", me), 0);
	SAME(ask(third, DELEGATE, "/shop/*", me), -EACCES);

	/* Malformed rules, and nobody to give them to. */
	SAME(ask(owner, GRANT, "open /shop/a", me), -EINVAL);
	SAME(ask(owner, GRANT, "+open shop", me), -EINVAL);
	SAME(ask(owner, GRANT, "", me), -EINVAL);
	SAME(ask(owner, GRANT, "+open /shop/a", 0), -ESRCH);
	SAME(ask(owner, GRANT, "+open /shop/a", 4711), -ESRCH);
	SAME(ask(owner, DELEGATE, "shop", me), -EINVAL);

	/* What a dead component decided is void; what was opened stays open. */
	SAME(ask(third, END, "", 0), -EOWNERDEAD);
	SAME(portal_open("/shop/cheap/x"), -EACCES);
	SAME(invoke_portal(x, 0, 0, 0, 0, 0), 7);

	/* The owner's names are free after its end, and nobody else's portal answers in its place. */
	SAME(ask(owner, END, "", 0), -EOWNERDEAD);
	SAME(invoke_portal(a, 0, 0, 0, 0, 0), -EOWNERDEAD);
	SAME(portal_open("/shop/a"), -EACCES);
	SAME(ask(heir, REGISTER, "/shop/a", 42), 0);
	SAME(portal_open("/shop/a"), -EACCES);
	SAME(ask(heir, GRANT, "+open /shop/*", me), 0);
	int again = portal_open("/shop/a");
	CHECK(again > 0 && again != a);
	SAME(invoke_portal(again, 0, 0, 0, 0, 0), 42);
	SAME(invoke_portal(a, 0, 0, 0, 0, 0), -EOWNERDEAD);
	SAME(portal_open("/shop/cheap/x"), -ENOENT);
	SAME(portal_open("/agent/owner"), -ENOENT);
	return checked(48);
}
