/* How threads begin and end: fork() saves what a function must keep on its stack, so that the copy of the stack
   carries it, and the new thread begins by taking it from there.

   Frame of fork: fs0..fs11 and fcsr first, which hold no addresses, then ra and s0..s11, which may. */
#include <pebble/abi.h>

#define FRAME		224
#define FRAME_WORDS	112	/* from here on a word may point into the stack; start of pebble_fork's relocation */

	.section .text.fork, "ax", @progbits
	.globl fork
	.type fork, @function
fork:
	addi	sp, sp, -FRAME
	.irp	i, 0,1,2,3,4,5,6,7,8,9,10,11
	fsd	fs\i, 8*\i(sp)
	.endr
	frcsr	t0
	sd	t0, 96(sp)
	sd	ra, FRAME_WORDS(sp)
	.irp	i, 0,1,2,3,4,5,6,7,8,9,10,11
	sd	s\i, FRAME_WORDS+8+8*\i(sp)
	.endr
	mv	a0, sp
	addi	a1, sp, FRAME_WORDS
	call	pebble_fork
	ld	ra, FRAME_WORDS(sp)
	addi	sp, sp, FRAME
	ret
	.size fork, . - fork

/* First instruction of the new thread: sp is the copy of fork's frame. */
	.globl pebble_fork_child
	.type pebble_fork_child, @function
pebble_fork_child:
	.irp	i, 0,1,2,3,4,5,6,7,8,9,10,11
	fld	fs\i, 8*\i(sp)
	.endr
	ld	t0, 96(sp)
	fscsr	t0
	ld	ra, FRAME_WORDS(sp)
	.irp	i, 0,1,2,3,4,5,6,7,8,9,10,11
	ld	s\i, FRAME_WORDS+8+8*\i(sp)
	.endr
	addi	sp, sp, FRAME
	li	a0, 0
	ret
	.size pebble_fork_child, . - pebble_fork_child

/* First instruction of a thread of thread_create: its function and argument lie on its stack. */
	.section .text.pebble_thread_entry, "ax", @progbits
	.globl pebble_thread_entry
	.type pebble_thread_entry, @function
pebble_thread_entry:
	ld	t0, 0(sp)
	ld	a0, 8(sp)
	addi	sp, sp, 16
	jalr	t0
	tail	thread_exit
	.size pebble_thread_entry, . - pebble_thread_entry

/* pebble_leave(slots, mask): gives the stack slot back and ends the thread. Between the two another thread may
   already use the stack, so nothing here touches it. */
	.section .text.pebble_leave, "ax", @progbits
	.globl pebble_leave
	.type pebble_leave, @function
pebble_leave:
	amoand.w.rl zero, a1, (a0)
1:	li	a7, SYS_THREAD_EXIT
	la	ra, 1b
	ecall
	.size pebble_leave, . - pebble_leave
