# Portal calls, the first instructions of a program and of a thread. gp is never used.
# A portal returns to ra, not to the instruction after the trap, so a call is a tail call.

	.section .text.pebble_invoke_portal, "ax", @progbits
	.globl pebble_invoke_portal
pebble_invoke_portal:
	mv	a7, a0
	ecall

# Entry: sp anywhere in the main thread's stack slot, nothing above it in use.
	.section .text.start, "ax", @progbits
	.globl _start
_start:
	li	t0, {stack_slot} - 1
	add	t1, sp, t0
	not	t0, t0
	and	t1, t1, t0		# top of the stack slot
	la	t2, __tls_size
	sub	t1, t1, t2
	andi	tp, t1, -64		# user.ld aligns thread-local data to 64
	mv	sp, tp
	mv	a0, tp
	li	ra, 0
	tail	pebble_start

# Frame of fork: fs0..fs11 and fcsr first, which hold no addresses, then (from 112) ra and s0..s11, which may.
	.section .text.pebble_fork_stack, "ax", @progbits
	.globl pebble_fork_stack
pebble_fork_stack:
	addi	sp, sp, -224
	.if {float}
	.option push
	.option arch, +d
	.irp	i, 0,1,2,3,4,5,6,7,8,9,10,11
	fsd	fs\i, 8*\i(sp)
	.endr
	frcsr	t0
	sd	t0, 96(sp)
	.option pop
	.endif
	sd	ra, 112(sp)
	.irp	i, 0,1,2,3,4,5,6,7,8,9,10,11
	sd	s\i, 120+8*\i(sp)
	.endr
	mv	a0, sp
	addi	a1, sp, 112
	call	pebble_fork_frame
	ld	ra, 112(sp)
	addi	sp, sp, 224
	ret

# First instruction of the new thread: sp is the copy of that frame.
	.globl pebble_fork_child
pebble_fork_child:
	.if {float}
	.option push
	.option arch, +d
	.irp	i, 0,1,2,3,4,5,6,7,8,9,10,11
	fld	fs\i, 8*\i(sp)
	.endr
	ld	t0, 96(sp)
	fscsr	t0
	.option pop
	.endif
	ld	ra, 112(sp)
	.irp	i, 0,1,2,3,4,5,6,7,8,9,10,11
	ld	s\i, 120+8*\i(sp)
	.endr
	addi	sp, sp, 224
	li	a0, 0
	ret

# First instruction of a thread of thread_create: its function and argument lie on its stack.
	.section .text.pebble_thread_entry, "ax", @progbits
	.globl pebble_thread_entry
pebble_thread_entry:
	ld	t0, 0(sp)
	ld	a0, 8(sp)
	addi	sp, sp, 16
	jalr	t0
	tail	pebble_thread_end

# pebble_leave(slots, mask): gives the stack slot back and ends the thread. Between the two another thread may
# already use the stack, so nothing here touches it.
	.section .text.pebble_leave, "ax", @progbits
	.globl pebble_leave
pebble_leave:
	.option push
	.option arch, +a
	amoand.w.rl zero, a1, (a0)
	.option pop
1:	li	a7, {thread_exit}
	la	ra, 1b
	ecall
