# Runs portal code in an emulator: for each case, puts the arena and all registers in place, enters supervisor mode
# at the portal, and writes down everything when the first trap to machine mode comes.
#
# Entry:    machine mode at _start, as firmware of `qemu-system-riscv64 -machine virt`.
# Memory:   CONTROL = count of cases; CASES = records of HEADER bytes and a copy of the arena; ARENA = where the
#           portal runs. A record's first 1024 bytes are the state before, the next 1024 the state after.
# State:    32 registers, 32 floating-point registers, fcsr, sscratch, sepc, satp, sie, scause, stval, stimecmp,
#           sstatus, pc; after that, in the state after: mcause, mtval, cycle before and after, time before and
#           after, calls of the firmware and the registers of the first.
# Exit:     through the test device. Clobbers: everything.

    .option arch, +d
    .equ AFTER, 1024

    .section .text.start, "ax"
    .globl _start
_start:
    li      t0, -1
    csrw    pmpaddr0, t0
    li      t0, 0x1f
    csrw    pmpcfg0, t0
    li      t0, -1
    csrw    mcounteren, t0
    li      t0, 1 << 63                 # stimecmp may be written in supervisor mode
    csrw    0x30a, t0
    csrw    medeleg, zero               # every exception ends a case
    li      t0, 0x222                   # makes the bits of sie writable; nothing is pending
    csrw    mideleg, t0
    csrw    mie, zero
    la      t0, trap
    csrw    mtvec, t0
    li      s0, {CONTROL}
    ld      s1, 0(s0)                   # cases left
    sd      s1, 8(s0)
    li      s2, {CASES}                 # this case
    sd      s2, 16(s0)

next:
    li      s0, {CONTROL}
    ld      s1, 8(s0)
    beqz    s1, finished
    addi    s1, s1, -1
    sd      s1, 8(s0)
    ld      s2, 16(s0)
    # The arena as the case begins.
    li      t0, {HEADER}
    add     t0, t0, s2
    li      t1, {ARENA}
    call    copy
    fence.i
    # Floating-point registers while they can be written.
    li      t0, 0x6000
    csrs    mstatus, t0
    addi    s3, s2, 256
    .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    fld     f\n, 8*\n(s3)
    .endr
    ld      t0, 8*64(s2)
    csrw    fcsr, t0
    ld      t0, 8*65(s2)
    csrw    sscratch, t0
    ld      t0, 8*66(s2)
    csrw    sepc, t0
    ld      t0, 8*67(s2)
    csrw    satp, t0
    sfence.vma
    ld      t0, 8*68(s2)
    csrw    sie, t0
    ld      t0, 8*69(s2)
    csrw    scause, t0
    ld      t0, 8*70(s2)
    csrw    stval, t0
    ld      t0, 8*71(s2)
    csrw    0x14d, t0
    ld      t0, 8*73(s2)
    csrw    mepc, t0
    # Back to supervisor mode, from where sret leads to user mode; floating point as the case says.
    ld      t0, 8*72(s2)
    li      t1, 0x820
    or      t0, t0, t1
    csrw    mstatus, t0
    sd      zero, AFTER+8*80(s2)
    csrw    mscratch, s2
    csrr    t0, mcycle
    sd      t0, AFTER+8*76(s2)
    csrr    t0, time
    sd      t0, AFTER+8*78(s2)
    mv      x31, s2
    .irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    ld      x\n, 8*\n(x31)
    .endr
    mret

    .balign 4
trap:
    csrrw   x31, mscratch, x31
    .irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
    sd      x\n, AFTER+8*\n(x31)
    .endr
    mv      s2, x31
    csrr    t0, mscratch
    sd      t0, AFTER+8*31(s2)
    csrr    t0, mcause
    li      t1, 9
    beq     t0, t1, firmware
    sd      t0, AFTER+8*74(s2)
    csrr    t0, mtval
    sd      t0, AFTER+8*75(s2)
    csrr    t0, mcycle
    sd      t0, AFTER+8*77(s2)
    csrr    t0, time
    sd      t0, AFTER+8*79(s2)
    csrr    t0, mstatus
    sd      t0, AFTER+8*72(s2)
    csrr    t0, mepc
    sd      t0, AFTER+8*73(s2)
    li      t0, 0x6000
    csrs    mstatus, t0
    addi    s3, s2, 256
    .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    fsd     f\n, AFTER+8*\n(s3)
    .endr
    csrr    t0, fcsr
    sd      t0, AFTER+8*64(s2)
    csrr    t0, sscratch
    sd      t0, AFTER+8*65(s2)
    csrr    t0, sepc
    sd      t0, AFTER+8*66(s2)
    csrr    t0, satp
    sd      t0, AFTER+8*67(s2)
    csrr    t0, sie
    sd      t0, AFTER+8*68(s2)
    csrr    t0, scause
    sd      t0, AFTER+8*69(s2)
    csrr    t0, stval
    sd      t0, AFTER+8*70(s2)
    csrr    t0, 0x14d
    sd      t0, AFTER+8*71(s2)
    # The arena as the case ends takes the place of the one before.
    li      t0, {ARENA}
    li      t1, {HEADER}
    add     t1, t1, s2
    call    copy
    li      t0, {STRIDE}
    add     s2, s2, t0
    li      s0, {CONTROL}
    sd      s2, 16(s0)
    j       next

firmware:                               # the portal calls the firmware: note it, answer zeros
    ld      t0, AFTER+8*80(s2)
    addi    t1, t0, 1
    sd      t1, AFTER+8*80(s2)
    sd      a7, AFTER+8*81(s2)
    sd      a6, AFTER+8*82(s2)
    sd      a0, AFTER+8*83(s2)
    sd      a1, AFTER+8*84(s2)
    sd      zero, AFTER+8*10(s2)
    sd      zero, AFTER+8*11(s2)
    csrr    t0, mepc
    addi    t0, t0, 4
    csrw    mepc, t0
    csrw    mscratch, s2
    mv      x31, s2
    .irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    ld      x\n, AFTER+8*\n(x31)
    .endr
    mret

copy:                                   # ARENA_BYTES from t0 to t1
    li      t2, {ARENA_BYTES}
    add     t2, t2, t0
1:  ld      t3, 0(t0)
    ld      t4, 8(t0)
    ld      t5, 16(t0)
    ld      t6, 24(t0)
    sd      t3, 0(t1)
    sd      t4, 8(t1)
    sd      t5, 16(t1)
    sd      t6, 24(t1)
    addi    t0, t0, 32
    addi    t1, t1, 32
    bltu    t0, t2, 1b
    ret

finished:
    li      t0, 0x100000                # sifive_test
    li      t1, 0x5555
    sw      t1, 0(t0)
    j       finished
