    .text
    .p2align 2
    .globl saxpy
    .type saxpy, %function
saxpy:
    dup v0.4s, v0.s[0]
    subs x2, x2, #8
    b.lt .Lfew
.Lturn:
    ldp q1, q2, [x0], #32
    ldp q3, q4, [x1]
    fmul v1.4s, v1.4s, v0.4s
    fmul v2.4s, v2.4s, v0.4s
    fadd v3.4s, v1.4s, v3.4s
    fadd v4.4s, v2.4s, v4.4s
    stp q3, q4, [x1], #32
    subs x2, x2, #8
    b.ge .Lturn
.Lfew:
    adds x2, x2, #8
    b.eq .Ldone
.Lone:
    ldr s1, [x0], #4
    ldr s2, [x1]
    fmul s1, s1, s0
    fadd s2, s1, s2
    str s2, [x1], #4
    subs x2, x2, #1
    b.ne .Lone
.Ldone:
    ret
    .size saxpy, .-saxpy
    .section .note.GNU-stack,"",%progbits
