/* Interrupts while a thread has nowhere to put anything: its invocation stack is full of calls, and its stack pointer leads
   nowhere. The dispatcher's stack is there all the same: nothing is lost, of the thread or of the interrupts. */
#include "../support/check.h"

#define THREADS 3
#define TICKS 60
#define EACH 50000ull /* of hrtime */

static int self, done;
static volatile long ticks;
static long deepest[THREADS], returned[THREADS], kept[THREADS], seen[THREADS];

static void tick(void *argument)
{
	(void)argument;
	unsigned long long next = hrtime();
	for (int i = 0; i < THREADS * TICKS; i++) {
		next += EACH;
		hrsleep(next);
		ticks = ticks + 1;
	}
	sem_post(done);
}

/* Waits for `count` ticks with sp = 0 and a mark in every register that the loop does not need, integer and floating
   point; answers 1 if all kept their marks. */
long without_stack(volatile long *counter, long count, long mark);
__asm__("	.globl without_stack\n"
	"without_stack:\n"
	"	addi sp, sp, -112\n"
	"	sd ra, 0(sp)\n"
	"	sd gp, 8(sp)\n"
	"	sd s0, 16(sp)\n"
	"	sd s1, 24(sp)\n"
	"	sd s2, 32(sp)\n"
	"	sd s3, 40(sp)\n"
	"	sd s4, 48(sp)\n"
	"	sd s5, 56(sp)\n"
	"	sd s6, 64(sp)\n"
	"	sd s7, 72(sp)\n"
	"	sd s8, 80(sp)\n"
	"	sd s9, 88(sp)\n"
	"	sd s10, 96(sp)\n"
	"	sd s11, 104(sp)\n"
	"	mv s0, sp\n"
	"	ld t0, 0(a0)\n"
	"	add t0, t0, a1\n"
	"	li sp, 0\n"
	"	.irp r, s1,s2,s3,s4,s5,s6,s7,s8,s9,s10,s11,ra,gp,a3,a4,a5,a6,a7,t2,t3,t4,t5,t6\n"
	"	mv \\r, a2\n"
	"	.endr\n"
	"	.irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
	"	fmv.d.x f\\i, a2\n"
	"	.endr\n"
	"1:	ld t1, 0(a0)\n"
	"	blt t1, t0, 1b\n"
	"	mv a0, sp\n" /* 0 as long as all is well */
	"	.irp r, s1,s2,s3,s4,s5,s6,s7,s8,s9,s10,s11,ra,gp,a3,a4,a5,a6,a7,t2,t3,t4,t5,t6\n"
	"	xor \\r, \\r, a2\n"
	"	or a0, a0, \\r\n"
	"	.endr\n"
	"	.irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
	"	fmv.x.d t0, f\\i\n"
	"	xor t0, t0, a2\n"
	"	or a0, a0, t0\n"
	"	.endr\n"
	"	seqz a0, a0\n"
	"	mv sp, s0\n"
	"	ld ra, 0(sp)\n"
	"	ld gp, 8(sp)\n"
	"	ld s0, 16(sp)\n"
	"	ld s1, 24(sp)\n"
	"	ld s2, 32(sp)\n"
	"	ld s3, 40(sp)\n"
	"	ld s4, 48(sp)\n"
	"	ld s5, 56(sp)\n"
	"	ld s6, 64(sp)\n"
	"	ld s7, 72(sp)\n"
	"	ld s8, 80(sp)\n"
	"	ld s9, 88(sp)\n"
	"	ld s10, 96(sp)\n"
	"	ld s11, 104(sp)\n"
	"	addi sp, sp, 112\n"
	"	ret\n");

/* Calls itself through a portal until there is no room for another frame; there, it waits. */
static long down(long c, long number, long depth)
{
	(void)c;
	deepest[number] = depth;
	long answer = invoke_portal_long(self, number, depth + 1, 0, 0, 0);
	if (answer != -PEBBLE_ELOOP)
		return answer == depth + 1 ? depth : answer;
	long before = ticks;
	kept[number] = without_stack(&ticks, TICKS, 0x5eed0 + number);
	seen[number] = ticks - before;
	return depth;
}

static void work(void *number)
{
	long index = (long)number;
	thread_priority(10);
	returned[index] = invoke_portal_long(self, index, 1, 0, 0, 0);
	sem_post(done);
}

int main(void)
{
	done = sem_create(0);
	SAME(portal_register("/program/self", "smcii", 0, down), 0);
	self = portal_open("/program/self");
	CHECK(self > 0);
	for (long i = 0; i < THREADS; i++)
		CHECK(thread_create(work, (void *)i) > 0);
	CHECK(thread_create(tick, NULL) > 0);
	for (int i = 0; i < THREADS + 1; i++)
		SAME(sem_wait(done), 0);
	for (int i = 0; i < THREADS; i++) {
		CHECK(deepest[i] > 50);
		/* Each call returned what it had to, through all of them. */
		SAME(returned[i], 1);
		SAME(kept[i], 1);
		CHECK(seen[i] >= TICKS);
	}
	SAME(ticks, THREADS * TICKS);
	return checked(2 + THREADS + 1 + THREADS + 1 + 4 * THREADS + 1);
}
