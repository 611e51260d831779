# Boot entry: from the firmware to Rust code at its linked address. Discarded after boot.
#
# Entry: a0 = hart number, a1 = physical address of the device tree, translation off.
# Exit:  boot_main(hart, device tree) on the boot stack, translation on: the lower gigabytes and the linked
#        addresses both map to RAM.

    .section .text.boot_start, "ax"
    .globl boot_start
boot_start:
    la      sp, boot_stack_top
    la      t0, boot_root               # physical: translation is off and the code is position independent
    # Entry 2: RAM at its physical address; 256..259: PHYSMAP; 510: the linked address. Gigapages, A and D set.
    li      t1, (0x80000000 >> 2) | 0xcf
    sd      t1, 2*8(t0)
    li      t3, 2040
    add     t2, t0, t3
    sd      t1, (510*8 - 2040)(t2)
    li      t1, 0xc7
    sd      t1, (256*8 - 2040)(t2)
    li      t1, (0x40000000 >> 2) | 0xc7
    sd      t1, (257*8 - 2040)(t2)
    li      t1, (0x80000000 >> 2) | 0xc7
    sd      t1, (258*8 - 2040)(t2)
    li      t1, (0xc0000000 >> 2) | 0xc7
    sd      t1, (259*8 - 2040)(t2)
    srli    t0, t0, 12
    li      t1, 8 << 60
    or      t0, t0, t1
    csrw    satp, t0                    # privileged: translation on
    sfence.vma                          # privileged: nothing stale from the firmware
    # Continue at the linked address.
    li      t1, 0xffffffff80000000 - 0x80000000
    la      t0, 1f
    add     t0, t0, t1
    add     sp, sp, t1
    jr      t0
1:  j       boot_main

    .section .bss.boot, "aw", @nobits
    .balign 4096
    .globl boot_root
boot_root:
    .space  4096
boot_stack:
    .space  262144
boot_stack_top:
