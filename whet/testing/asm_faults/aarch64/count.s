    .text
    .globl count
    .type count, %function
count:
    mov w3, wzr
    and w2, w2, 255
    sxtw x1, w1
    add x1, x0, x1
    cmp x0, x1
    b.hs 2f
1:  ldrb w4, [x0], 1
    cmp w4, w2
    cinc w3, w3, eq
    cmp x0, x1
    b.lo 1b
2:  mov w0, w3
    ret
    .size count, . - count
    .section .note.GNU-stack, "", %progbits
