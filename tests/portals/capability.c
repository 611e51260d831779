/* Letter k: a portal as an argument. A server gets what it may not open, uses it, and gets nothing else. */
#include "../servers/protocol.h"

#define SERVER "/test/server"
#define MORTAL "/test/mortal"

static struct text text;
static int taker, guesser, user;

static long echo(long c, long a, long b)
{
	return c * 1000 + a * 10 + b;
}

/* The stack that it runs on. */
static long where(long c)
{
	(void)c;
	return (long)__builtin_frame_address(0) - 1;
}

/* Passes `slot`, said to be `specification`; answers the server's slot. */
static long passed(long slot, const char *specification)
{
	strncpy(text.text, specification, NAMELEN - 1);
	return call(taker, slot, (long)text.text, 0, 0, 0);
}

/* The server presents a word that this call does not pass. */
static long guessed(long word, const char *specification)
{
	strncpy(text.text, specification, NAMELEN - 1);
	return call(guesser, word, (long)text.text, 0, 0, 0);
}

/* The server invokes its slot with two words. */
static long used(long slot, long a, long b)
{
	return call(user, slot, a, b, 0, 0);
}

static void a_portal(int echoes, long server, long own)
{
	/* The right to it is the caller's, whatever names the server may open. */
	int opener = offered(SERVER, "npcr", 0, OPEN);
	strcpy(text.text, "/init/component");
	EXPECT(call(opener, (long)text.text, 0, 0, 0, 0), -EACCES);
	portal_close(opener);
	int component = portal_open("/init/component");
	long there = passed(component, "npciw");
	CHECK(there >= PEBBLE_FIRST_DYNAMIC);
	static struct info record;
	int use = offered(SERVER, "npciw", there, PASS);
	EXPECT(call(use, 0, (long)&record, 0, 0, 0), 0);
	CHECK(!strcmp(record.name, "virtual-memory"));
	portal_close(use);

	/* Same callee, same constant; stack and state letters are the server's choice, the others are not. */
	there = passed(echoes, "npcii");
	CHECK(there >= PEBBLE_FIRST_DYNAMIC);
	EXPECT(used(there, 3, 4), 7034);
	struct info portal;
	EXPECT(system_info(INFO_PORTAL, server * NPORTALS + there, &portal), 0);
	CHECK(!strcmp(portal.name, "npcii"));
	EXPECT(portal.values[2], own);
	there = passed(echoes, "nmcii");
	EXPECT(system_info(INFO_PORTAL, server * NPORTALS + there, &portal), 0);
	CHECK(!strcmp(portal.name, "nmcii"));
	EXPECT(passed(echoes, "npci"), -EINVAL);
	EXPECT(passed(echoes, "npciii"), -EINVAL);
	EXPECT(passed(echoes, "npciw"), -EINVAL);
	EXPECT(passed(echoes, "npdii"), -EINVAL);
	EXPECT(passed(echoes, "npciiq"), -EINVAL);
	EXPECT(passed(echoes, "V"), -EINVAL);
	EXPECT(passed(echoes, "PV"), -EINVAL);
	EXPECT(passed(echoes, ""), -EINVAL);

	/* Whom the portal was made for trusted the callee with its stack: that is not for others to decide. */
	EXPECT(portal_register("/program/trusted", "smcii", 0, where), 0);
	int trusted = portal_open("/program/trusted");
	there = passed(trusted, "npcii");
	EXPECT(used(there, 0, 0) / PEBBLE_STACK_AREA, PEBBLE_STACKS / PEBBLE_STACK_AREA + own);
	there = passed(trusted, "smcii");
	EXPECT(used(there, 0, 0) / PEBBLE_STACK_AREA, PEBBLE_STACKS / PEBBLE_STACK_AREA + server);

	/* The letter = names the slot that whoever is called knows, also from another slot. */
	EXPECT(portal_register("/program/slot", "np=ii", 9, echo), 0);
	int slot = portal_open("/program/slot");
	EXPECT(call(slot, 1, 2, 0, 0, 0), slot * 1000 + 12);
	there = passed(slot, "np=ii");
	CHECK(there > 0 && there != slot);
	EXPECT(used(there, 1, 2), slot * 1000 + 12);
	EXPECT(portal_register("/program/both", "np=ci", 9, echo), 0);
	EXPECT(passed(portal_open("/program/both"), "np=ci"), -EINVAL);

	/* Twice, and two at a time. */
	int two = offered(SERVER, "npckrk", 0, ACCEPT_TWO);
	strcpy(text.text, "npcii");
	long both = call(two, echoes, (long)text.text, echoes, 0, 0);
	CHECK(both > 0 && both >> 16 != (both & 0xffff));
	EXPECT(used(both & 0xffff, 5, 6), 7056);
	EXPECT(used(both >> 16, 5, 6), 7056);
	int other = portal_open("/program/echo");
	both = call(two, other, (long)text.text, echoes, 0, 0);
	CHECK(both > 0);
	portal_close(other);
	/* What was accepted does not hang on the slot that it came from. */
	EXPECT(used(both & 0xffff, 1, 1), 7011);
	portal_close(two);
}

static void no_portal(int echoes)
{
	EXPECT(passed(0, "npcii"), -EBADF);
	EXPECT(passed(5, "npcii"), -EBADF);
	EXPECT(passed(31, "npcii"), -EBADF);
	EXPECT(passed(NPORTALS, "npcii"), -EBADF);
	EXPECT(passed(-1, "npcii"), -EBADF);
	EXPECT(passed(1L << 32 | echoes, "npcii"), -EBADF);
	/* Empty, or what every component has of its own. */
	EXPECT(passed(NPORTALS - 1, "npcii"), -EBADF);
	EXPECT(passed(SYS_SBRK, "nmcidt"), -EBADF);
	EXPECT(passed(SYS_HRTIME, "nmc"), -EBADF);
	/* Never passed, or passed in a call that has returned. */
	EXPECT(guessed(echoes, "npcii"), -EPERM);
	EXPECT(guessed(NPORTALS - 1, "npcii"), -EPERM);
	EXPECT(guessed(0, "npcii"), -EPERM);
	EXPECT(guessed(-1, "npcii"), -EPERM);
	EXPECT(guessed(taker, "npckr"), -EPERM);
	/* One word is passed, another presented. */
	int two = offered(SERVER, "npckri", 0, ACCEPT_TWO);
	strcpy(text.text, "npcii");
	EXPECT(call(two, echoes, (long)text.text, taker, 0, 0), -EPERM);
	/* A word that no call passed to whoever asks. */
	EXPECT(portal_accept(echoes, "npcii"), -EPERM);
	EXPECT(portal_accept(echoes, NULL), -EFAULT);
	EXPECT(call(SYS_PORTAL_ACCEPT, echoes, 0, 0, 0, 0), -EFAULT);
	portal_close(two);
}

static int slow, inside;

static void caller(void *word)
{
	__atomic_store_n(&inside, 1, __ATOMIC_SEQ_CST);
	static struct text echo_text = { "npcii" };
	CHECK(call(slow, (long)word, (long)echo_text.text, 0, 0, 0) > 0);
	__atomic_store_n(&inside, 0, __ATOMIC_SEQ_CST);
}

static long back_answer;

/* Called back in the middle of a call that passed `word`: the call that is served now did not. */
static long back(long c, long word, long b)
{
	(void)c, (void)b;
	back_answer = guessed(word, "npcii");
	return 5;
}

static void other_calls(int echoes)
{
	/* Another thread of the server is in a call that passes it. */
	slow = offered(SERVER, "npckr", 2000000, ACCEPT_LATE);
	CHECK(thread_create(caller, (void *)(long)echoes) >= 0);
	while (!__atomic_load_n(&inside, __ATOMIC_SEQ_CST))
		yield();
	hrsleep(hrtime() + 100000);
	EXPECT(inside, 1);
	EXPECT(guessed(echoes, "npcii"), -EPERM);
	while (__atomic_load_n(&inside, __ATOMIC_SEQ_CST))
		yield();
	/* The same thread is, but further down. */
	EXPECT(portal_register("/program/back", "npcii", 0, back), 0);
	int over = offered(SERVER, "npcki", 0, CALL_BACK);
	EXPECT(call(over, echoes, 0, 0, 0, 0), 5);
	EXPECT(back_answer, -EPERM);
	portal_close(over);
	portal_close(slow);
}

static void a_semaphore(void)
{
	int semaphore = sem_create(0);
	long there = passed(semaphore, "PV");
	CHECK(there >= PEBBLE_FIRST_DYNAMIC);
	/* V there, P here; V here, P there. */
	EXPECT(used(there + 1, 0, 0), 0);
	EXPECT(sem_wait(semaphore), 0);
	EXPECT(sem_post(semaphore), 0);
	EXPECT(used(there, 0, 0), 0);
	/* The right to V alone. */
	long post = passed(semaphore + 1, "V");
	CHECK(post >= PEBBLE_FIRST_DYNAMIC && post != there + 1);
	EXPECT(used(post, 0, 0), 0);
	EXPECT(sem_wait(semaphore), 0);
	EXPECT(passed(semaphore + 1, "PV"), -EINVAL);
	EXPECT(passed(semaphore, "V"), -EINVAL);
	EXPECT(passed(semaphore, "nmc"), -EINVAL);
	/* It stays whose it is. */
	EXPECT(used(SYS_SEM_DESTROY, there, 0), -EPERM);
	EXPECT(sem_post(semaphore), 0);
	EXPECT(sem_destroy(semaphore), 0);
	EXPECT(used(there, 0, 0), -EOWNERDEAD);
	EXPECT(used(there + 1, 0, 0), -EOWNERDEAD);
	EXPECT(used(post, 0, 0), -EOWNERDEAD);
	/* The next semaphore may have the number: nobody else has a way to it. */
	int next = sem_create(0);
	EXPECT(used(there + 1, 0, 0), -EOWNERDEAD);
	EXPECT(sem_destroy(next), 0);
}

static void end_mortal(long asid)
{
	int die = offered(MORTAL, "npcii", 0, DIE);
	EXPECT(call(die, BY_EXIT, 0, 0, 0, 0), -EOWNERDEAD);
	CHECK(domain_ended(asid));
	portal_close(die);
}

/* Where the test server accepts what `mortal` passes: a slot of that domain. */
static int way_for_mortal(int entry, long constant)
{
	struct text wish = { "npckr" }, path = { { 0 } };
	int offer = open_of(SERVER, "offer");
	long number = call(offer, (long)wish.text, entry, constant, 0, 0);
	portal_close(offer);
	snprintf(path.text, sizeof path.text, SERVER "/%ld", number);
	int opener = offered(MORTAL, "npcr", 0, OPEN);
	int slot = call(opener, (long)path.text, 0, 0, 0, 0);
	portal_close(opener);
	return slot;
}

static int late, late_semaphore;

static void late_caller(void *unused)
{
	(void)unused;
	static struct text both = { "PV" };
	EXPECT(call(late, late_semaphore, (long)both.text, 0, 0, 0), -EOWNERDEAD);
	__atomic_store_n(&inside, 0, __ATOMIC_SEQ_CST);
}

static void deaths(void)
{
	/* The callee dies: a portal that was passed on ends as one that was opened. */
	long asid = start_mortal();
	int recorder = offered(MORTAL, "npcii", 0, RECORD);
	long there = passed(recorder, "npcii");
	EXPECT(used(there, 0, 0), 77);
	/* A semaphore that another domain passes ends with that domain. */
	int make = offered(MORTAL, "npci", 0, SEMAPHORE);
	int semaphore = call(make, 0, 0, 0, 0, 0);
	int way = offered(MORTAL, "npcir", way_for_mortal(ACCEPT, 0), PASS);
	strcpy(text.text, "PV");
	long theirs = call(way, semaphore, (long)text.text, 0, 0, 0);
	CHECK(theirs >= PEBBLE_FIRST_DYNAMIC);
	EXPECT(used(theirs + 1, 0, 0), 0);
	EXPECT(used(theirs, 0, 0), 0);
	end_mortal(asid);
	EXPECT(used(there, 0, 0), -EOWNERDEAD);
	EXPECT(passed(recorder, "npcii"), -EOWNERDEAD);
	EXPECT(used(theirs, 0, 0), -EOWNERDEAD);
	EXPECT(used(theirs + 1, 0, 0), -EOWNERDEAD);

	/* Who passes it dies while the call lasts. */
	asid = start_mortal();
	make = offered(MORTAL, "npci", 0, SEMAPHORE);
	late_semaphore = call(make, 0, 0, 0, 0, 0);
	late = offered(MORTAL, "npcir", way_for_mortal(ACCEPT_LATE, 3000000), PASS);
	inside = 1;
	CHECK(thread_create(late_caller, NULL) >= 0);
	hrsleep(hrtime() + 200000);
	end_mortal(asid);
	while (__atomic_load_n(&inside, __ATOMIC_SEQ_CST))
		yield();
	hrsleep(hrtime() + 4000000);
	EXPECT((int)fetched(SERVER).most, -EOWNERDEAD);
}

/* What is accepted counts: the table of who accepts is full at its end, and nobody else misses anything. */
static void limits(int echoes)
{
	long asid = start_mortal();
	int before = taker, taken = 0;
	taker = offered(MORTAL, "npckr", 0, ACCEPT);
	long there;
	while ((there = passed(echoes, "npcii")) > 0 && taken < NPORTALS)
		taken++;
	EXPECT(there, -EMFILE);
	CHECK(taken > 300);
	end_mortal(asid);
	taker = before;
	CHECK(passed(echoes, "npcii") > 0);
}

int main(void)
{
	EXPECT(portal_register("/program/echo", "npcii", 7, echo), 0);
	int echoes = portal_open("/program/echo");
	taker = offered(SERVER, "npckr", 0, ACCEPT);
	user = offered(SERVER, "npciii", 0, INVOKE);
	guesser = offered(SERVER, "npcir", 0, ACCEPT);
	CHECK(echoes > 0 && taker > 0 && guesser > 0 && user > 0);
	struct info portal;
	EXPECT(system_info(INFO_PORTAL, get_asid() * NPORTALS + taker, &portal), 0);
	a_portal(echoes, portal.values[2], get_asid());
	no_portal(echoes);
	other_calls(echoes);
	a_semaphore();
	deaths();
	limits(echoes);
	return check_end();
}
