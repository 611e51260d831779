/* The machine's memory ends before a component's limit (64 MiB on a machine of 32): who took it ends, alone; the others
   had and have what they need, and everything comes back. */
#include "../servers/protocol.h"

#define MIB (1l << 20)

static int full, go, first;

/* A child that touches page after page: first until nobody but the modest gets any more, then one more. */
static void take_everything(void)
{
	struct info memory;
	char *region = NULL;
	long page = 0, pages = MIB / PEBBLE_PAGE;
	int last = 0;
	for (;; page++) {
		if (page % pages == 0) {
			region = vm_map(MIB);
			if (VM_FAILED(region))
				exit(3); /* the limit was there first */
		}
		if (page % 16 == 0 && !last && system_info(INFO_MEMORY, 0, &memory) == 0 &&
		    (long)memory.values[0] < first / 16 + 64) {
			last = 1;
			sem_post(full);
			sem_wait(go);
		}
		region[page % pages * PEBBLE_PAGE] = 1;
	}
}

static long intercept(int id, long p1, long p2, long p3, long p4, long p5)
{
	return call(id, p1, p2, p3, p4, p5);
}

static long free_pages(void)
{
	struct info memory;
	EXPECT(system_info(INFO_MEMORY, 0, &memory), 0);
	return memory.values[0];
}

/* Everybody else is served as always. */
static void others_go_on(int server)
{
	static long room[2048];
	char *region = vm_map(20 * PEBBLE_PAGE);
	CHECK(!VM_FAILED(region));
	memset(region, 7, 20 * PEBBLE_PAGE);
	memset(room, 0, sizeof room);
	EXPECT(call(server, (long)region, 20, 0, 0, 0), 140);
	EXPECT(vm_unmap(region), 0);
	int s = sem_create(1);
	EXPECT(sem_wait(s), 0);
	EXPECT(sem_destroy(s), 0);
	long asid = start_component("steady");
	CHECK(asid > 0 && domain_alive(asid));
	EXPECT(domain_kill(asid), -EPERM);
}

static void stop_steady(void)
{
	struct text text = { "steady" };
	int slot = portal_open("/init/stop");
	EXPECT(call(slot, (long)text.text, 0, 0, 0, 0), 0);
	portal_close(slot);
}

int main(void)
{
	struct info record;
	printf("start\n");
	full = sem_create(0);
	go = sem_create(0);
	int server = offered("/test/server", "nmcri", 0, SUM);
	CHECK(server > 0);
	others_go_on(server);
	stop_steady();
	first = free_pages();
	EXPECT(system_info(INFO_DOMAIN, get_asid(), &record), 0);
	CHECK((long)record.values[5] > 2 * first);

	int child = domain_fork(intercept);
	if (child == 0)
		take_everything();
	CHECK(child > 0);
	sem_wait(full);
	CHECK(free_pages() < first / 16 + 64);
	EXPECT(domain_alive(child), 1);
	others_go_on(server);
	/* One page more than there is. */
	sem_post(go);
	CHECK(domain_ended(child));
	stop_steady();

	/* All of it is back, and can be had again. */
	long now = 0;
	for (int i = 0; i < 50 && (now = free_pages()) < first - 40; i++)
		hrsleep(hrtime() + 200000);
	CHECK(now >= first - 40);
	others_go_on(server);
	child = domain_fork(intercept);
	if (child == 0)
		for (;;)
			sem_wait(go);
	CHECK(child > 0);
	return check_end();
}
