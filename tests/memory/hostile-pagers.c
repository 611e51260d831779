/* Pagers that go for the VM server: everything depends on it, and it calls whoever registered a pager's name. Their
   specifications say how far it would have to trust them; it does not. */
#include "../support/check.h"

static char page[PEBBLE_PAGE] __attribute__((aligned(4096)));
static volatile long stack;
static int plain_faults;

static long intercept(long slot, long p1, long p2, long p3, long p4, long p5)
{
	return invoke_portal_long(slot, p1, p2, p3, p4, p5);
}

static long on_whose_stack(long constant, long cookie, int asid, char *address, long access)
{
	(void)constant, (void)cookie, (void)access;
	stack = (long)__builtin_frame_address(0) - 1;
	return vm_supply(asid, address, page, PAGER_SUPPLY_WRITE);
}

long give(long constant, long cookie, int asid, char *address, long access)
{
	(void)constant, (void)cookie, (void)access;
	plain_faults++;
	return vm_supply(asid, address, page, PAGER_SUPPLY_WRITE);
}

/* Gives the page, and returns with something of its own in every register that C functions keep. */
long give_and_spoil();
__asm__("	.globl give_and_spoil\n"
	"give_and_spoil:\n"
	"	addi sp, sp, -16\n"
	"	sd ra, 0(sp)\n"
	"	sd gp, 8(sp)\n"
	"	call give\n"
	"	ld ra, 0(sp)\n"
	"	.irp r, gp,s0,s1,s2,s3,s4,s5,s6,s7,s8,s9,s10,s11\n"
	"	li \\r, 0x5ec2e70\n"
	"	.endr\n"
	"	addi sp, sp, 16\n"
	"	ret\n");

/* The copies' touches of the region's first page; answers how many of them got it. */
static int touches(char *region, int count)
{
	int got = sem_create(0), alive = 0;
	for (int i = 0; i < count; i++) {
		int child = domain_fork(intercept);
		if (child == 0) {
			if (*(volatile char *)region == 42)
				sem_post(got);
			for (;;)
				sleep_nanoseconds(1000000000);
		}
		CHECK(child > 0);
		sem_wait(got);
		alive += domain_alive(child);
		CHECK(domain_kill(child) == 0);
	}
	return alive;
}

static char *region_of(const char *name, const char *specification, portal_entry entry)
{
	SAME(portal_register(name, specification, 0, entry), 0);
	return vm_pager(2 * PEBBLE_PAGE, name, (long)page);
}

int main(void)
{
	page[0] = 42;
	/* Arguments that the VM server does not mean to give: its memory at the cookie, at the page; a word more or less. */
	SAME(region_of("/pager/window", "nmcwiii", (portal_entry){ .returns_long = give }), -EINVAL);
	SAME(region_of("/pager/given", "npciiGi", (portal_entry){ .returns_long = give }), -EINVAL);
	SAME(region_of("/pager/short", "npciii", (portal_entry){ .returns_long = give }), -EINVAL);
	SAME(region_of("/pager/long", "npciiiii", (portal_entry){ .returns_long = give }), -EINVAL);
	SAME(region_of("/pager/other", "npiiiii", (portal_entry){ .returns_long = give }), -EINVAL);

	/* On the VM server's stack? No: on one of this domain's. */
	char *region = region_of("/pager/stack", "smciiii", (portal_entry){ .returns_long = on_whose_stack });
	CHECK(!VM_FAILED(region));
	SAME(touches(region, 1), 1);
	SAME(stack / PEBBLE_STACK_AREA, PEBBLE_STACKS / PEBBLE_STACK_AREA + get_asid());

	/* With the VM server's registers? They are kept from it. */
	region = region_of("/pager/spoil", "nmciiii", (portal_entry){ .returns_long = give_and_spoil });
	CHECK(!VM_FAILED(region));
	SAME(touches(region, 5), 5);
	SAME(plain_faults, 5);
	return checked(30);
}
