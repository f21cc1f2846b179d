    .text
    .globl copy
    .type copy, @function
copy:
    blez a2, 2f
1:  lbu a3, 0(a1)
    sb a3, 0(a0)
    addi a0, a0, 1
    addi a1, a1, 1
    addi a2, a2, -1
    bgtz a2, 1b
2:  ret
    .size copy, . - copy
    .section .note.GNU-stack, "", @progbits
