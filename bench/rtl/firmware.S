# Firmware of the simulated Rocket machine: what Pebble needs of SBI, in machine mode, and nothing more.
#
# It is the first thing in RAM. Entry: a0 = hart, a1 = device tree, as the boot ROM has them. It lets everything reach
# the supervisor that the supervisor handles, and enters the nucleus as OpenSBI would. Afterwards it runs on:
#   environment calls of the supervisor   console byte, timer, shutdown
#   the machine's timer interrupt         becomes the supervisor's
#   illegal instructions                  `rdtime` is read from the CLINT; all others go on to the supervisor
# A trap into it is paid by whoever caused it; no portal but PutByte, SetTimer and Reset causes one.
#
# A system can begin on one machine and go on on another, because RTL is slow and booting is long. The first is QEMU's
# `virt`, where this firmware makes `rdtime` trap too, as it does on Rocket. There `rdtime x0`, which means nothing
# anywhere else, puts the whole state of the processor into RAM and stops the machine. Rocket starts with that RAM, and
# the state in it is taken up instead of entering the nucleus.

    .equ RAM,           0x80000000
    .equ NUCLEUS,       0x80200000
    .equ UART,          0x10000000
    .equ UART_STATUS,   5               # line status; bit 5: room to send
    .equ FINISHER,      0x11000000      # of the simulated machine
    .equ VIRT_FINISHER, 0x00100000      # of QEMU's
    .equ ROCKET,        1               # marchid
    .equ FINISHER_FAIL, 0x3333          # status in the upper half
    .equ FINISHER_PASS, 0x5555
    .equ FINISHER_RESET, 0x7777
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
    .equ READ_TIME,     0xc0102073      # csrrs rd, time, x0, without rd
    .equ TIME_COUNTER,  1 << 1          # in mcounteren
    .equ FLOATS_ON,     3 << 13         # FS in mstatus

# Registers but x0, sp, t0 and t1, which the entry saves.
    .macro every_register instruction
    .irp    register, 1, 3, 4, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    \instruction x\register, 8*\register(sp)
    .endr
    .endm
    .macro every_float instruction
    .irp    register, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    \instruction f\register, 8*\register(t0)
    .endr
    .endm
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
    li      t0, ~TIME_COUNTER
    csrw    mcounteren, t0              # cycle and instret are the supervisor's to read; time traps, on Rocket anyway
    la      t0, stopped
    ld      t0, 0(t0)
    bnez    t0, go_on
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
    li      t1, FINISHER_PASS
    beqz    a1, finish
stuck:
    li      t1, 1 << 16 | FINISHER_FAIL
finish:
    csrr    t0, marchid
    addi    t0, t0, -ROCKET
    beqz    t0, 1f
    li      t0, VIRT_FINISHER
    sw      t1, 0(t0)
1:  li      t0, FINISHER
    sw      t1, 0(t0)
2:  j       2b

    # `csrrs rd, time, x0`: rd is found in the frame, where all registers are put for that.
illegal:
    every_register sd
    csrr    a0, mtval                   # Rocket and QEMU have the instruction's bits here
    li      a1, 0xfffff07f
    and     a1, a1, a0
    li      a2, READ_TIME
    bne     a1, a2, reflect
    csrr    a1, mepc
    addi    a1, a1, 4
    csrw    mepc, a1
    srli    a0, a0, 7
    andi    a0, a0, 31
    beqz    a0, moment
    li      a1, TIME
    ld      a1, 0(a1)
    slli    a0, a0, 3
    li      a2, 8*2                     # sp is in mscratch
    beq     a0, a2, 1f
    add     a0, a0, sp
    sd      a1, 0(a0)
    j       leave_all
1:  csrw    mscratch, a1
leave_all:
    every_register ld
    j       leave

    # As if it had been delegated.
reflect:
    csrw    stval, a0
    li      a0, ILLEGAL_CAUSE
    csrw    scause, a0
    csrr    a0, mepc
    csrw    sepc, a0
    csrr    a0, stvec
    csrw    mepc, a0
    # sstatus: SPP = the mode it came from, SPIE = SIE, SIE = 0; and this returns to the supervisor.
    csrr    a0, mstatus
    srli    a1, a0, 11
    andi    a1, a1, 1                   # MPP: 0 user, 1 supervisor
    slli    a1, a1, 8
    andi    a0, a0, 1 << 1
    slli    a0, a0, 4
    or      a1, a1, a0
    li      a0, 0x122
    csrc    mstatus, a0
    csrs    mstatus, a1
    li      a0, 1 << 11
    csrs    mstatus, a0
    j       leave_all

    # The moment to move to the other machine; on that one it means nothing.
moment:
    csrr    t0, marchid
    li      t1, ROCKET
    beq     t0, t1, leave_all
    csrr    t0, mscratch
    sd      t0, 8*2(sp)
    la      t1, state
    .irp    register, mstatus, mepc, mie, mip, stvec, sscratch, sepc, scause, stval, satp, scounteren
    csrr    t0, \register
    sd      t0, 0(t1)
    addi    t1, t1, 8
    .endr
    li      t0, FLOATS_ON
    csrs    mstatus, t0
    csrr    t0, fcsr
    sd      t0, 0(t1)
    la      t0, floats
    every_float fsd
    li      t0, TIMER_COMPARE
    ld      t0, 0(t0)
    sd      t0, 8(t1)
    li      t0, TIME
    ld      t0, 0(t0)
    sd      t0, 16(t1)
    csrr    t0, minstret
    sd      t0, 24(t1)
    csrr    t0, mcycle
    sd      t0, 32(t1)
    la      t0, stopped
    li      t1, 1
    sd      t1, 0(t0)
    fence
    li      t0, VIRT_FINISHER
    li      t1, FINISHER_RESET          # QEMU is told to stop there instead; any other value would end it at once
    sw      t1, 0(t0)
1:  j       1b

    # The other half: the state is in RAM.
go_on:
    la      sp, frame
    li      t0, FLOATS_ON
    csrs    mstatus, t0
    la      t0, floats
    every_float fld
    la      t1, state + 8*11
    ld      t0, 0(t1)
    csrw    fcsr, t0
    ld      t0, 8(t1)
    li      a0, TIMER_COMPARE
    sd      t0, 0(a0)
    ld      t0, 16(t1)
    li      a0, TIME
    sd      t0, 0(a0)
    ld      t0, 24(t1)
    csrw    minstret, t0
    ld      t0, 32(t1)
    csrw    mcycle, t0
    la      t1, state
    .irp    register, mstatus, mepc, mie, mip, stvec, sscratch, sepc, scause, stval, satp, scounteren
    ld      t0, 0(t1)
    csrw    \register, t0
    addi    t1, t1, 8
    .endr
    sfence.vma
    ld      t0, 8*2(sp)
    csrw    mscratch, t0
    j       leave_all

    .section .bss
    .balign 64
frame:                                  # x0 to x31; sp only while the system moves
    .space  8*32
stopped:
    .space  8
state:                                  # in the order of the code above
    .space  8*16
floats:
    .space  8*32
