/* Portal calls: the slot in a7, arguments in a1 to a5, the answer in a0.
   A portal returns to ra, not to the instruction after the trap, so each of these is a tail call. */
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
