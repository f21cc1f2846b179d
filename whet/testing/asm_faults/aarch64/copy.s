    .text
    .globl copy
    .type copy, %function
copy:
    mov x3, xzr
    subs x4, x2, 16
    b.lt 2f
1:  ldr q0, [x1, x3]
    str q0, [x0, x3]
    add x3, x3, 16
    cmp x3, x4
    b.le 1b
2:  cmp x3, x2
    b.ge 4f
3:  ldrb w5, [x1, x3]
    strb w5, [x0, x3]
    add x3, x3, 1
    cmp x3, x2
    b.lt 3b
4:  ret
    .size copy, . - copy
    .section .note.GNU-stack, "", %progbits
