    .text
    .p2align 2
    .globl histogram
    .type histogram, %function
histogram:
    add x3, x2, #1024
    movi v0.4s, #0
    mov x4, x2
.Lclear:
    stp q0, q0, [x4], #32
    cmp x4, x3
    b.ne .Lclear
    add x1, x0, x1
    b .Lmore
.Lbyte:
    ldrb w4, [x0], #1
    ldr w5, [x2, x4, lsl #2]
    add w5, w5, #1
    str w5, [x2, x4, lsl #2]
.Lmore:
    cmp x0, x1
    b.ne .Lbyte
    ret
    .size histogram, .-histogram
    .section .note.GNU-stack,"",%progbits
