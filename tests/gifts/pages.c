/* Letters W, G and T: a child shows its parent a window that stays open, gives a page away, and takes one. */
#include <pebble.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 200 /* slots of the portals under test in the child's table */
#define GIVEN 201
#define TAKEN 202
#define LOOK 203

#define ALIGNED __attribute__((aligned(4096)))

static char page[4096] ALIGNED;
static char pair[8192] ALIGNED;
static char servers_page[4096] ALIGNED;
static const char constant[4096] ALIGNED = "constant";
static char *shown = pair;
static int child;

/* --- the parent serves --- */

static int sum(const char *bytes)
{
	int total = 0;
	for (int i = 0; i < 4096; i++)
		total += bytes[i];
	return total;
}

/* G: the page is ours now, and stays. */
static int given(int slot, char *bytes)
{
	int total = sum(bytes);
	memset(bytes, 9, 4096);
	return total;
}

/* W: two pages, still there when a later call looks. */
static int show(int slot, char *bytes)
{
	shown = bytes;
	return bytes[4095] + 100 * bytes[4096];
}

static int look(int slot)
{
	return shown[0];
}

/* T: what we leave in a1 changes places with the caller's page. */
struct answer {
	long a0, a1;
};

static struct answer taken(int slot, long address, long how)
{
	memset(servers_page, 0x5a, sizeof servers_page);
	struct answer good = { 1, (long)servers_page };
	struct answer nowhere = { 1, 0x123000 };
	struct answer code = { 1, (long)taken };
	struct answer refused = { -5, (long)servers_page };
	return how == 0 ? good : how == 1 ? nowhere : how == 2 ? code : refused;
}

/* --- everything else that the child calls goes through --- */

static int intercept(int slot, long p1, long p2, long p3, long p4, long p5)
{
	return invoke_portal(slot, p1, p2, p3, p4, p5);
}

static int notify(int asid, int slot, char *specification)
{
	char stub[NAMELEN];
	sprintf(stub, "sm=%s", specification + 3);
	return portal_create_child(child, slot, stub, 0, intercept);
}

static int call(int slot, const void *buffer, long more)
{
	return invoke_portal(slot, (long)buffer, more, 0, 0, 0);
}

static void client(void)
{
	while (call(LOOK, 0, 0) == -38)
		yield();
	memset(page, 1, sizeof page);
	printf("given: %d\n", call(GIVEN, page, 0));
	printf("gone: %d\n", sum(page)); /* a fresh zero page is in its place */
	page[7] = 3;
	printf("given again: %d\n", call(GIVEN, page, 0));

	pair[4095] = 7;
	pair[4096] = 3;
	printf("shown: %d\n", call(SHOWN, pair, 0));
	pair[0] = 55;
	printf("still shown: %d\n", call(LOOK, 0, 0));
	printf("shown twice, given: %d\n", call(GIVEN, pair, 0));

	memset(page, 2, sizeof page);
	printf("taken: %d\n", call(TAKEN, page, 0));
	printf("now %x %x\n", page[0], page[4095]);
	printf("taken from nowhere: %d, page %x\n", call(TAKEN, page, 1), page[0]);
	printf("taken from code: %d, page %x\n", call(TAKEN, page, 2), page[0]);
	printf("refused: %d, page %x\n", call(TAKEN, page, 3), page[0]);

	printf("code: %d\n", call(GIVEN, (void *)(long)client, 0));
	printf("constant: %d\n", call(GIVEN, constant, 0));
	printf("nothing: %d\n", call(GIVEN, (void *)0x123000, 0));
	char local[64];
	printf("stack: %d\n", call(GIVEN, local, 0));
	exit(0);
}

int main(void)
{
	portal_notify(notify);
	child = domain_fork(intercept);
	if (child == 0)
		client();
	printf("%d", portal_create_child(child, GIVEN, "nmiG", 0, given));
	printf("%d", portal_create_child(child, SHOWN, "nmiW2", 0, show));
	printf("%d", portal_create_child(child, TAKEN, "nmiTi", 0, taken));
	printf("%d\n", portal_create_child(child, LOOK, "nmi", 0, look));
	sem_wait(sem_create(0));
}
