    .text
    .globl distance
    .type distance, @function
distance:
    sub a2, a0, a1
    bgt a0, a1, 1f
    sub a2, a1, a0
1:  sext.w a0, a2
    ret
    .size distance, . - distance
    .section .note.GNU-stack, "", @progbits
