/* A call in assembly that holds numbers in every register: what C is promised (s0-s11, fs0-fs11, gp, tp, sp) and, for
   letter p, all floating-point registers and fcsr. */
#ifndef REGISTERS_H
#define REGISTERS_H

#include <pebble.h>

struct state {
	uint64_t s[12], gp, tp, sp, result;
	uint64_t f[32], fcsr;
};
/* Calls `first` with a1, a2, and, if it is not 0, `second` with a1. */
long held_over(long first, struct state *after, long a1, long a2, long second);
__asm__("	.globl held_over\n"
	"held_over:\n"
	"	addi sp, sp, -320\n"
	"	sd ra, 0(sp)\n"
	"	sd gp, 8(sp)\n"
	"	.irp i, 0,1,2,3,4,5,6,7,8,9,10,11\n"
	"	sd s\\i, 16+8*\\i(sp)\n"
	"	fsd fs\\i, 112+8*\\i(sp)\n"
	"	.endr\n"
	"	sd a1, 208(sp)\n"
	"	.irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
	"	li t0, 1000+\\i\n"
	"	fmv.d.x f\\i, t0\n"
	"	.endr\n"
	"	li t0, 0x61\n" /* round down, and two flags */
	"	fscsr t0\n"
	"	.irp i, 0,1,2,3,4,5,6,7,8,9,10,11\n"
	"	li s\\i, 2000+\\i\n"
	"	.endr\n"
	"	li gp, 2100\n"
	"	mv a7, a0\n"
	"	sd a2, 216(sp)\n"
	"	sd a4, 224(sp)\n"
	"	mv a1, a2\n"
	"	mv a2, a3\n"
	"	la ra, 1f\n"
	"	ecall\n"
	"1:	ld a7, 224(sp)\n"
	"	beqz a7, 2f\n"
	"	ld a1, 216(sp)\n"
	"	la ra, 2f\n"
	"	ecall\n"
	"2:	ld t1, 208(sp)\n"
	"	.irp i, 0,1,2,3,4,5,6,7,8,9,10,11\n"
	"	sd s\\i, 8*\\i(t1)\n"
	"	.endr\n"
	"	sd gp, 96(t1)\n"
	"	sd tp, 104(t1)\n"
	"	sd sp, 112(t1)\n"
	"	sd a0, 120(t1)\n"
	"	.irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
	"	fsd f\\i, 128+8*\\i(t1)\n"
	"	.endr\n"
	"	frcsr t0\n"
	"	sd t0, 384(t1)\n"
	"	fscsr zero\n"
	"	ld ra, 0(sp)\n"
	"	ld gp, 8(sp)\n"
	"	.irp i, 0,1,2,3,4,5,6,7,8,9,10,11\n"
	"	ld s\\i, 16+8*\\i(sp)\n"
	"	fld fs\\i, 112+8*\\i(sp)\n"
	"	.endr\n"
	"	addi sp, sp, 320\n"
	"	ret\n");

/* How many of the integer registers that a callee must keep were not kept. */
static inline int wrong_integers(const struct state *after)
{
	int wrong = after->gp != 2100;
	for (int i = 0; i < 12; i++)
		wrong += after->s[i] != (uint64_t)(2000 + i);
	return wrong;
}

/* The same for f registers: all of them, or those that C functions keep. */
static inline int wrong_floats(const struct state *after, int all)
{
	int wrong = 0;
	for (int i = 0; i < 32; i++) {
		int saved = i == 8 || i == 9 || (i >= 18 && i <= 27);
		wrong += (all || saved) && after->f[i] != (uint64_t)(1000 + i);
	}
	return wrong;
}

#endif
