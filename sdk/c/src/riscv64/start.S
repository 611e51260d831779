/* The first instructions of a program: a thread-local block at the top of the stack, then C.
   Entry: sp anywhere in the main thread's stack slot, nothing above it in use. gp is never used. */
#include <pebble/abi.h>

	.section .text.start, "ax", @progbits
	.globl _start
	.type _start, @function
_start:
	li	t0, PEBBLE_STACK_SLOT - 1
	add	t1, sp, t0
	not	t0, t0
	and	t1, t1, t0		/* top of the stack slot */
	la	t2, __tls_size
	sub	t1, t1, t2
	andi	tp, t1, -64		/* user.ld aligns thread-local data to 64 */
	mv	sp, tp
	mv	a0, tp
	li	ra, 0
	tail	pebble_start
	.size _start, . - _start
