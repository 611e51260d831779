/* The ends of parents and children. Argument: which. */
#include "../servers/protocol.h"

static int told, value, second;

static int intercept(int id, long p1, long p2, long p3, long p4, long p5)
{
	return call(id, p1, p2, p3, p4, p5);
}

static int tell(int c, int what)
{
	(void)c;
	if (what < 0)
		second = what;
	else
		value = what;
	return sem_post(told);
}

/* The child ends by a fault, while one of its threads is inside the parent and one waits there. */
static void crash(void)
{
	int report, never = sem_create(0);
	told = sem_create(0);
	EXPECT(portal_register("/program/tell", "nmci", 0, tell), 0);
	report = portal_open("/program/tell");
	for (int way = 0; way < 4; way++) {
		int child = domain_fork(intercept);
		if (child == 0) {
			if (fork() == 0)
				sem_wait(never);
			call(report, 7, 0, 0, 0, 0);
			if (way == 0)
				__asm__ volatile("sd zero, 16(zero)");
			if (way == 1)
				__asm__ volatile("unimp");
			if (way == 2)
				((void (*)(void))0x40000000)();
			/* The way of a thread that has nothing to return to. */
			__asm__ volatile("li a7, 0\n la ra, 1f\n ecall\n1: li t0, 8\n sd t0, 0(t0)");
		}
		CHECK(child > 0);
		sem_wait(told);
		EXPECT(value, 7);
		CHECK(domain_ended(child));
		/* It cannot be killed again, nor be given portals. */
		CHECK(domain_kill(child) < 0);
		EXPECT(portal_create_child(child, 100, "nmc", 0, tell), -ESRCH);
	}
	/* The parent's semaphore was not taken by the dead. */
	sem_post(never);
	EXPECT(sem_wait(never), 0);
}

/* The parent ends its children, grandchildren among them, and only those. */
static void kill(void)
{
	int report;
	told = sem_create(0);
	EXPECT(portal_register("/program/tell", "nmci", 0, tell), 0);
	report = portal_open("/program/tell");
	int child = domain_fork(intercept);
	if (child == 0) {
		int grandchild = domain_fork(intercept);
		if (grandchild == 0)
			grandchild = -1;
		call(report, grandchild, 0, 0, 0, 0);
		for (;;)
			yield();
	}
	sem_wait(told);
	sem_wait(told);
	int grandchild = value;
	EXPECT(second, -1);
	CHECK(grandchild > 0 && grandchild != child);
	CHECK(domain_alive(child) && domain_alive(grandchild));
	EXPECT(domain_kill(get_asid()), -EPERM);
	EXPECT(domain_kill(1), -EPERM);
	EXPECT(domain_kill(6), -EPERM);
	EXPECT(domain_kill(0), -EPERM);
	EXPECT(domain_kill(-1), -EPERM);
	EXPECT(domain_kill(100000), -EPERM);
	EXPECT(domain_kill(child), 0);
	CHECK(!domain_alive(grandchild) && !domain_alive(child));
}

/* A domain in the middle dies: what it made dies too, and what made it goes on. */
static void orphan(void)
{
	int report;
	told = sem_create(0);
	EXPECT(portal_register("/program/tell", "nmci", 0, tell), 0);
	report = portal_open("/program/tell");
	int child = domain_fork(intercept);
	if (child == 0) {
		int grandchild = domain_fork(intercept);
		if (grandchild == 0) {
			call(report, -1, 0, 0, 0, 0);
			for (;;)
				yield();
		}
		call(report, grandchild, 0, 0, 0, 0);
		for (int i = 0; i < 20; i++)
			yield();
		__asm__ volatile("unimp");
	}
	sem_wait(told);
	sem_wait(told);
	EXPECT(second, -1);
	CHECK(value > 0 && domain_alive(value));
	CHECK(domain_ended(child));
	CHECK(domain_ended(value));
}

static int bad_notify(int asid, int slot, char *specification)
{
	(void)asid, (void)specification;
	if (slot == 200)
		__asm__ volatile("unimp");
	return 0;
}

/* The child is told of a portal that its parent makes, and dies of it: the parent comes back. */
static void upcall(void)
{
	int report;
	told = sem_create(0);
	EXPECT(portal_register("/program/tell", "nmci", 0, tell), 0);
	report = portal_open("/program/tell");
	int child = domain_fork(intercept);
	if (child == 0) {
		int result = portal_notify(bad_notify);
		call(report, result, 0, 0, 0, 0);
		/* What the parent makes is here as soon as it is made. */
		while (call(150, 1, 0, 0, 0, 0) != 7)
			yield();
		call(report, -2, 0, 0, 0, 0);
		for (;;)
			yield();
	}
	sem_wait(told);
	EXPECT(value, 0);
	EXPECT(portal_create_child(child, 150, "nm=i", 0, intercept), 0);
	EXPECT(portal_create_child(child, 150, "nx", 0, intercept), -EINVAL);
	EXPECT(portal_create_child(child, 31, "nm", 0, intercept), -EINVAL);
	EXPECT(portal_create_child(child, NPORTALS, "nm", 0, intercept), -EINVAL);
	EXPECT(portal_create_child(child, -1, "nm", 0, intercept), -EINVAL);
	EXPECT(portal_create_child(get_asid(), 150, "nm", 0, intercept), -EPERM);
	EXPECT(portal_create_child(1, 150, "nm", 0, intercept), -EPERM);
	/* Replaced in place. */
	EXPECT(portal_create_child(child, 150, "nmc", 7, (portal_entry){ .returns_int = abs }), 0);
	sem_wait(told);
	EXPECT(second, -2);
	CHECK(domain_alive(child));
	EXPECT(portal_create_child(child, 200, "nm=i", 0, intercept), 0);
	CHECK(domain_ended(child));
}

int main(int argc, char **argv)
{
	const char *which = argc > 1 ? argv[1] : "kill";
	if (!strcmp(which, "crash"))
		crash();
	else if (!strcmp(which, "kill"))
		kill();
	else if (!strcmp(which, "orphan"))
		orphan();
	else
		upcall();
	return check_end();
}
