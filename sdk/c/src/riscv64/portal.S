/* Portal calls: the slot in a7, arguments in a1 to a5, the answer in a0.
   A portal returns to ra, not to the instruction after the trap, so each of these is a tail call. */
#include <pebble/abi.h>

	.section .text.invoke_portal, "ax", @progbits
	.globl invoke_portal
	.globl invoke_portal_long
	.type invoke_portal, @function
	.type invoke_portal_long, @function
invoke_portal:
invoke_portal_long:
	mv	a7, a0
	ecall
	.size invoke_portal, . - invoke_portal
	.size invoke_portal_long, . - invoke_portal_long

/* Services whose slot is fixed, or follows from the argument: two instructions each, because they are what programs
   call most. */
	.macro service name, load:vararg
	.section .text.\name, "ax", @progbits
	.globl \name
	.type \name, @function
\name:
	\load
	ecall
	.size \name, . - \name
	.endm

	service get_asid, li a7, SYS_GET_ASID
	service get_thread, li a7, SYS_GET_THREAD
	service hrtime, li a7, SYS_HRTIME
	service time_of_day, li a7, SYS_TIME_OF_DAY
	service yield, li a7, SYS_YIELD
	service sem_wait, mv a7, a0 /* the slot of P is the semaphore's number */
	service sem_post, addi a7, a0, 1

	.section .text.hrsleep, "ax", @progbits
	.globl hrsleep
	.type hrsleep, @function
hrsleep:
	mv	a1, a0
	li	a7, SYS_HRSLEEP
	ecall
	.size hrsleep, . - hrsleep
