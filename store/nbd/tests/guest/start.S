# Entry in machine mode: a stack, then main. Other harts than 0 do not exist on this machine.
  .section .text.start
  .globl start
start:
  la sp, stack_top
  call main
1: wfi
  j 1b

  .bss
  .align 12
  .skip 16384
stack_top:
