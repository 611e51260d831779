/* Instructions and addresses that are not a program's: each is tried by a child, which dies of it and of nothing else;
   its parent, with the same code, sees no change and goes on. */
#include "../servers/protocol.h"

static int told, child;
static volatile int survived;
static const int constant[2] = { 4, 5 };
static int data[2] = { 6, 7 };

static int tell(int c, int what)
{
	(void)c;
	survived = what;
	return sem_post(told);
}

static long deny(int id, long p1, long p2, long p3, long p4, long p5)
{
	(void)id, (void)p1, (void)p2, (void)p3, (void)p4, (void)p5;
	return -EPERM;
}

enum { TELL = 300 };

#define ATTEMPT(name, text)                       \
	static void name(void)                    \
	{                                         \
		__asm__ volatile(text ::: "t0", "memory"); \
	}
ATTEMPT(mret, "mret")
ATTEMPT(sret, "sret")
ATTEMPT(wait_for_interrupt, "wfi")
ATTEMPT(fence_all, "sfence.vma")
ATTEMPT(fence_one, "sfence.vma t0, zero")
ATTEMPT(read_status, "csrr t0, sstatus")
ATTEMPT(write_status, "csrw sstatus, zero")
ATTEMPT(read_table, "csrr t0, satp")
ATTEMPT(write_table, "csrw satp, zero")
ATTEMPT(read_scratch, "csrr t0, sscratch")
ATTEMPT(write_scratch, "csrw sscratch, zero")
ATTEMPT(read_cause, "csrr t0, scause")
ATTEMPT(write_vector, "csrw stvec, zero")
ATTEMPT(write_exception_pc, "csrw sepc, zero")
ATTEMPT(clear_interrupts, "csrw sie, zero")
ATTEMPT(enable_counters, "csrw scounteren, zero")
ATTEMPT(write_timer, "csrw 0x14d, zero")
ATTEMPT(read_hart, "csrr t0, mhartid")
ATTEMPT(write_machine, "csrw mstatus, zero")
ATTEMPT(write_cycle, "csrw cycle, zero")
ATTEMPT(unknown_register, "csrr t0, 0x7c0")
ATTEMPT(breakpoint, "ebreak")
ATTEMPT(undefined, "unimp")
ATTEMPT(all_ones, ".4byte 0xffffffff")
ATTEMPT(atomic_elsewhere, "li t0, 0x40000000\n amoadd.d zero, t0, (t0)")

static void (*const attempts[])(void) = {
	mret,	      sret,	     wait_for_interrupt, fence_all,	   fence_one,	     read_status,    write_status,
	read_table,   write_table,   read_scratch,	 write_scratch,	   read_cause,	     write_vector,   write_exception_pc,
	clear_interrupts, enable_counters, write_timer, read_hart,	   write_machine,    write_cycle,    unknown_register,
	breakpoint,   undefined,     all_ones,		 atomic_elsewhere,
};

enum { LOAD, STORE, JUMP };
static const struct {
	int how;
	unsigned long address;
} touches[] = {
	{ STORE, PEBBLE_GATE },
	{ STORE, PEBBLE_GATE + 64 },
	{ STORE, PEBBLE_START_INFO },
	{ STORE, PEBBLE_IMAGE },
	{ STORE, (unsigned long)constant },
	{ STORE, (unsigned long)tell },
	{ JUMP, (unsigned long)data },
	{ JUMP, PEBBLE_START_INFO },
	{ JUMP, 0x4000000000 },
	{ LOAD, 0 },
	{ LOAD, 0x1011000 }, /* core servers have boot information there */
	{ LOAD, PEBBLE_STACKS + 1 * PEBBLE_STACK_AREA + PEBBLE_STACK_SLOT - 64 },
	{ LOAD, PEBBLE_STACKS + 2 * PEBBLE_STACK_AREA + PEBBLE_STACK_SLOT - 64 },
	{ STORE, PEBBLE_STACKS + 8 * PEBBLE_STACK_AREA + PEBBLE_STACK_SLOT - 64 },
	{ LOAD, 0x80000000 },
	{ LOAD, 0x80200000 },
	{ LOAD, PEBBLE_DEVICE + 0x10000000 }, /* the console's registers */
	{ STORE, PEBBLE_DEVICE + 0x100000 },  /* the power switch */
	{ LOAD, 0x3000000000 },		      /* all memory, in the VM server */
	{ STORE, 0x3800000000 },	      /* the nucleus objects, in the portal manager */
	{ LOAD, 0x3c00000000 },		      /* the bundle, in init */
	{ LOAD, 0xffffffc080000000 },
	{ LOAD, 0xffffffff80000000 },
	{ STORE, 0xffffffff80200000 },
	{ LOAD, 0xffffffffc0000000 },
	{ JUMP, 0xffffffff80000000 },
	{ JUMP, 0xffffffffc0000000 },
	{ JUMP, 0xffffffffc0004000 },
	{ LOAD, 0x8000000000000000 },
	{ LOAD, -8UL },
};

static void touch(int how, unsigned long address)
{
	if (how == LOAD)
		__asm__ volatile("ld zero, 0(%0)" ::"r"(address));
	else if (how == STORE)
		__asm__ volatile("sd %0, 0(%0)" ::"r"(address) : "memory");
	else
		__asm__ volatile("jalr %0" ::"r"(address) : "ra");
}

int main(void)
{
	static int local_code[2] = { 0x00008067, 0x00008067 }; /* ret */
	enum { ATTEMPTS = sizeof attempts / sizeof *attempts, TOUCHES = sizeof touches / sizeof *touches };
	told = sem_create(0);
	for (int i = 0; i < ATTEMPTS + TOUCHES + 2; i++) {
		survived = 0;
		int result = domain_fork(deny);
		if (result == 0) {
			int on_stack[2] = { 0x00008067, 0x00008067 };
			while (call(TELL, 1, 0, 0, 0, 0) != 0)
				;
			if (i < ATTEMPTS)
				attempts[i]();
			else if (i < ATTEMPTS + TOUCHES)
				touch(touches[i - ATTEMPTS].how, touches[i - ATTEMPTS].address);
			else {
				/* A return, in data and on the stack: not to be executed. */
				__asm__ volatile("fence.i");
				touch(JUMP, i % 2 ? (unsigned long)local_code : (unsigned long)on_stack);
			}
			call(TELL, 2, 0, 0, 0, 0);
			for (;;)
				;
		}
		child = result;
		CHECK(child > 0);
		EXPECT(portal_create_child(child, TELL, "nmci", 0, tell), 0);
		sem_wait(told);
		if (!CHECK(domain_ended(child)) || !EXPECT(survived, 1)) {
			printf("  attempt %d\n", i);
			domain_kill(child);
		}
	}
	/* Allowed: counters and the fence of one's own code. */
	unsigned long cycles, later, ticks;
	__asm__ volatile("rdcycle %0\n rdtime %2\n fence.i\n rdcycle %1" : "=r"(cycles), "=r"(later), "=r"(ticks));
	CHECK(later > cycles && ticks > 0);
	EXPECT(constant[1], 5);
	EXPECT(data[1], 7);
	EXPECT(*(volatile int *)PEBBLE_START_INFO, (int)PEBBLE_START_MAGIC);
	return check_end();
}
