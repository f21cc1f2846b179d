    .text
    .globl sum
    .type sum, @function
sum:
    li a2, 0
    blez a1, 2f
1:  lw a3, 0(a0)
    add a2, a2, a3
    addi a0, a0, 4
    addi a1, a1, -1
    bgtz a1, 1b
2:  mv a0, a2
    ret
    .size sum, . - sum
    .section .note.GNU-stack, "", @progbits
