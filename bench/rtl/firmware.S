# Firmware of the simulated Rocket machine: what Pebble needs of SBI, in machine mode, and nothing more.
#
# It is the first thing in RAM. Entry: a0 = hart, a1 = device tree, as the boot ROM has them. It lets everything reach
# the supervisor that the supervisor handles, and enters the nucleus as OpenSBI would. Afterwards it runs on:
#   environment calls of the supervisor   console byte, timer, shutdown
#   the machine's timer interrupt         becomes the supervisor's
#   illegal instructions                  `rdtime` is read from the CLINT; all others go on to the supervisor
# A trap into it is paid by whoever caused it; no portal but PutByte, SetTimer and Reset causes one.

    .equ RAM,           0x80000000
    .equ NUCLEUS,       0x80200000
    .equ UART,          0x10000000
    .equ UART_STATUS,   5               # line status; bit 5: room to send
    .equ FINISHER,      0x11000000
    .equ FINISHER_FAIL, 0x3333          # status in the upper half
    .equ FINISHER_PASS, 0x5555
    .equ TIMER_COMPARE, 0x02004000      # CLINT: mtimecmp of hart 0
    .equ TIME,          0x0200bff8      # CLINT: mtime

    .equ SBI_PUTCHAR,   1
    .equ SBI_SHUTDOWN,  8
    .equ SBI_TIME,      0x54494d45
    .equ SBI_RESET,     0x53525354
    .equ SBI_UNKNOWN,   -2

    .equ TIMER_CAUSE,   7
    .equ ILLEGAL_CAUSE, 2
    .equ CALL_CAUSE,    9
    .equ MACHINE_TIMER, 1 << 7          # in mie
    .equ SUPERVISOR_TIMER, 1 << 5       # in mip

    .section .text.entry, "ax"
    .globl _start
_start:
    la      t0, trap
    csrw    mtvec, t0
    la      t0, frame
    csrw    mscratch, t0                # where the handler saves registers
    csrw    mie, zero
    li      t0, -1
    csrw    pmpaddr0, t0                # the supervisor may use all of physical memory
    li      t0, 0x1f                    # NAPOT, read, write, execute
    csrw    pmpcfg0, t0
    li      t0, 0xb1fb                  # all exceptions but illegal instruction and the supervisor's call
    csrw    medeleg, t0
    li      t0, 0x222                   # the supervisor's software, timer and external interrupts
    csrw    mideleg, t0
    li      t0, -1
    csrw    mcounteren, t0              # cycle and instret are the supervisor's to read
    li      t0, TIMER_COMPARE
    li      t1, -1
    sd      t1, 0(t0)
    li      t0, 3 << 11
    csrc    mstatus, t0
    li      t0, 1 << 11                 # MPP: supervisor
    csrs    mstatus, t0
    li      t0, NUCLEUS
    csrw    mepc, t0
    mret

    .balign 64
trap:
    csrrw   sp, mscratch, sp
    sd      t0, 8*5(sp)
    sd      t1, 8*6(sp)
    csrr    t0, mcause
    li      t1, CALL_CAUSE
    beq     t0, t1, call
    bltz    t0, timer
    li      t1, ILLEGAL_CAUSE
    beq     t0, t1, illegal
    j       stuck

    # The machine's timer: pending at the supervisor until it sets the next one.
timer:
    li      t0, MACHINE_TIMER
    csrc    mie, t0
    li      t0, SUPERVISOR_TIMER
    csrs    mip, t0
leave:
    ld      t0, 8*5(sp)
    ld      t1, 8*6(sp)
    csrrw   sp, mscratch, sp
    mret

call:
    csrr    t0, mepc
    addi    t0, t0, 4
    csrw    mepc, t0
    li      t0, SBI_PUTCHAR
    beq     a7, t0, put_character
    li      t0, SBI_TIME
    beq     a7, t0, set_timer
    li      t0, SBI_SHUTDOWN
    beq     a7, t0, stuck               # only boot code that failed calls this one
    li      t0, SBI_RESET
    beq     a7, t0, reset
    li      a0, SBI_UNKNOWN
    li      a1, 0
    j       leave

put_character:
    li      t0, UART
1:  lbu     t1, UART_STATUS(t0)
    andi    t1, t1, 1 << 5
    beqz    t1, 1b
    sb      a0, 0(t0)
    li      a0, 0
    j       leave

set_timer:
    li      t0, TIMER_COMPARE
    sd      a0, 0(t0)
    li      t0, SUPERVISOR_TIMER
    csrc    mip, t0
    li      t0, MACHINE_TIMER
    csrs    mie, t0
    li      a0, 0
    li      a1, 0
    j       leave

    # a1: reason, 0 is none.
reset:
    li      t0, FINISHER
    li      t1, FINISHER_PASS
    beqz    a1, 1f
stuck:
    li      t0, FINISHER
    li      t1, 1 << 16 | FINISHER_FAIL
1:  sw      t1, 0(t0)
2:  j       2b

    # `csrrs rd, time, x0`: rd is found in the frame, where all registers are put for that.
illegal:
    csrr    t0, mtval                   # Rocket has the instruction's bits here
    li      t1, 0xfffff07f
    and     t1, t1, t0
    addi    sp, sp, -16                 # a second word beside the frame
    sd      t0, 0(sp)
    li      t0, 0xc0102073
    bne     t0, t1, 1f
    ld      t0, 0(sp)
    addi    sp, sp, 16
    srli    t0, t0, 7
    andi    t0, t0, 31
    li      t1, TIME
    ld      t1, 0(t1)
    .irp    register, 1, 3, 4, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    sd      x\register, 8*\register(sp)
    .endr
    slli    t0, t0, 3
    add     t0, t0, sp
    li      a0, 8*2                     # sp itself is in mscratch
    sub     a1, t0, sp
    bne     a0, a1, 2f
    csrw    mscratch, t1
2:  sd      t1, 0(t0)
    sd      zero, 0(sp)
    csrr    t0, mepc
    addi    t0, t0, 4
    csrw    mepc, t0
    .irp    register, 1, 3, 4, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    ld      x\register, 8*\register(sp)
    .endr
    j       leave

    # As if it had been delegated.
1:  ld      t0, 0(sp)
    addi    sp, sp, 16
    csrw    stval, t0
    li      t0, ILLEGAL_CAUSE
    csrw    scause, t0
    csrr    t0, mepc
    csrw    sepc, t0
    csrr    t0, stvec
    csrw    mepc, t0
    # sstatus: SPP = the mode it came from, SPIE = SIE, SIE = 0; and this returns to the supervisor.
    csrr    t0, mstatus
    srli    t1, t0, 11
    andi    t1, t1, 1                   # MPP: 0 user, 1 supervisor
    slli    t1, t1, 8
    andi    t0, t0, 1 << 1
    slli    t0, t0, 4
    or      t1, t1, t0
    li      t0, 0x122
    csrc    mstatus, t0
    csrs    mstatus, t1
    li      t0, 1 << 11
    csrs    mstatus, t0
    j       leave

    .section .bss
    .balign 64
    .space  16
frame:
    .space  8*32
