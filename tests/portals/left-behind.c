/* A thread that waited finds its result, what C keeps, and zeros: nothing that another thread, or the scheduler, had in
   the registers. */
#include "../support/check.h"

#include <string.h>

enum { REGISTERS = 13, MARK = 0x5ec2e7 };

/* P of a semaphore; then a1 to a6 and t0 to t6 as they are. */
long wait_and_look(long semaphore, uint64_t *after);
/* V of one semaphore and P of another, with a mark in all of these registers. */
void wake_and_wait(long first, long second, long mark);
__asm__("	.macro marked slot\n"
	"	.irp r, a1,a2,a3,a4,a5,a6,t0,t1,t2,t3,t4,t5,t6\n"
	"	mv \\r, s2\n"
	"	.endr\n"
	"	mv a7, \\slot\n"
	"	la ra, 1f\n"
	"	ecall\n"
	"1:\n"
	"	.endm\n"
	"	.globl wait_and_look, wake_and_wait\n"
	"wait_and_look:\n"
	"	addi sp, sp, -16\n"
	"	sd ra, 0(sp)\n"
	"	sd s0, 8(sp)\n"
	"	mv s0, a1\n"
	"	mv a7, a0\n"
	"	la ra, 1f\n"
	"	ecall\n"
	"1:	sd a1, 0(s0)\n"
	"	sd a2, 8(s0)\n"
	"	sd a3, 16(s0)\n"
	"	sd a4, 24(s0)\n"
	"	sd a5, 32(s0)\n"
	"	sd a6, 40(s0)\n"
	"	sd t0, 48(s0)\n"
	"	sd t1, 56(s0)\n"
	"	sd t2, 64(s0)\n"
	"	sd t3, 72(s0)\n"
	"	sd t4, 80(s0)\n"
	"	sd t5, 88(s0)\n"
	"	sd t6, 96(s0)\n"
	"	ld ra, 0(sp)\n"
	"	ld s0, 8(sp)\n"
	"	addi sp, sp, 16\n"
	"	ret\n"
	"wake_and_wait:\n"
	"	addi sp, sp, -32\n"
	"	sd ra, 0(sp)\n"
	"	sd s1, 8(sp)\n"
	"	sd s2, 16(sp)\n"
	"	sd s3, 24(sp)\n"
	"	addi s1, a0, 1\n" /* V is in the slot behind P */
	"	mv s3, a1\n"
	"	mv s2, a2\n"
	"	marked s1\n"
	"	marked s3\n"
	"	ld ra, 0(sp)\n"
	"	ld s1, 8(sp)\n"
	"	ld s2, 16(sp)\n"
	"	ld s3, 24(sp)\n"
	"	addi sp, sp, 32\n"
	"	ret\n");

static int go, never;

static void partner(void *argument)
{
	(void)argument;
	wake_and_wait(go, never, MARK);
}

int main(void)
{
	go = sem_create(0);
	never = sem_create(0);
	CHECK(thread_create(partner, NULL) > 0);
	uint64_t after[REGISTERS];
	memset(after, 0xff, sizeof after);
	/* Nobody has posted yet: this thread blocks, and the next one to run is the partner. When that one blocks, the
	   scheduler goes on with this one. */
	SAME(wait_and_look(go, after), 0);
	for (int i = 0; i < REGISTERS; i++)
		SAME(after[i], 0);
	return checked(15);
}
