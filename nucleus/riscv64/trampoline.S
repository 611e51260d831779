# The trap trampoline: all privileged code that stays resident, generated portals apart.
#
# Entry:    a trap from user mode; interrupts off (hardware); sscratch = the running thread.
# Exit:     jumps to the portal in the thread's current portal table:
#           tp = thread, sscratch = the program's tp, t0 = address of the portal.
# Clobbers: environment call: t0, t1 (dead by the calling convention). Any other trap: nothing, the program's
#           t0 and t1 are in the thread's scratch words.
# It knows nothing of what a portal means. Slots: see abi/src/slot.rs.

    .section .resident, "ax"
    .globl _start
_start:
    # The firmware enters here once; the instruction is not used again.
    j       boot_start

    .balign 64
    .globl trampoline
trampoline:
    csrrw   tp, sscratch, tp            # privileged: the only way to find the thread without a free register
    sd      t0, {SCRATCH0}(tp)
    csrr    t0, scause                  # privileged: what happened
    addi    t0, t0, -8
    bnez    t0, 1f
    # Environment call: slot a7, cut to the table's size.
    ld      t1, {TABLE}(tp)
    slli    t0, a7, {SLOT_UP}
    srli    t0, t0, {SLOT_DOWN}
    add     t0, t0, t1
    ld      t0, 0(t0)
    jr      t0
1:  # Exception: slot = cause. Interrupt: slot = 16 + cause.
    sd      t1, {SCRATCH1}(tp)
    csrr    t0, scause                  # privileged: as above
    srli    t1, t0, 56                  # 128 = 8 * 16 for an interrupt, else 0
    slli    t0, t0, 3
    andi    t0, t0, 15 * 8
    or      t0, t0, t1
    ld      t1, {TABLE}(tp)
    add     t0, t0, t1
    ld      t0, 0(t0)
    jr      t0
