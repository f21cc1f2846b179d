    .text
    .globl sum
    .type sum, %function
sum:
    mov x2, xzr
    mov x3, xzr
    cmp x3, x1
    b.ge 2f
1:  ldrsw x4, [x0, x3, lsl 2]
    add x2, x2, x4
    add x3, x3, 1
    cmp x3, x1
    b.lt 1b
2:  mov x0, x2
    ret
    .size sum, . - sum
    .section .note.GNU-stack, "", %progbits
