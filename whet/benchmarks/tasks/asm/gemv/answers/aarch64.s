    .text
    .p2align 2
    .globl gemv
    .type gemv, %function
gemv:
    cbz x3, .Ldone
.Lrow:
    movi v0.4s, #0
    movi v1.4s, #0
    movi v2.4s, #0
    movi v3.4s, #0
    mov x5, x1
    subs x6, x4, #16
    b.lt .Lfour
.Lturn:
    ldp q4, q5, [x0], #32
    ldp q6, q7, [x0], #32
    ldp q16, q17, [x5], #32
    ldp q18, q19, [x5], #32
    fmla v0.4s, v4.4s, v16.4s
    fmla v1.4s, v5.4s, v17.4s
    fmla v2.4s, v6.4s, v18.4s
    fmla v3.4s, v7.4s, v19.4s
    subs x6, x6, #16
    b.ge .Lturn
    fadd v0.4s, v0.4s, v1.4s
    fadd v2.4s, v2.4s, v3.4s
    fadd v0.4s, v0.4s, v2.4s
.Lfour:
    adds x6, x6, #12                // columns left, less 4
    b.lt .Lsum
1:
    ldr q4, [x0], #16
    ldr q16, [x5], #16
    fmla v0.4s, v4.4s, v16.4s
    subs x6, x6, #4
    b.ge 1b
.Lsum:
    faddp v0.4s, v0.4s, v0.4s
    faddp s0, v0.2s
    adds x6, x6, #4
    b.eq .Lstore
1:
    ldr s4, [x0], #4
    ldr s16, [x5], #4
    fmadd s0, s4, s16, s0
    subs x6, x6, #1
    b.ne 1b
.Lstore:
    str s0, [x2], #4
    subs x3, x3, #1
    b.ne .Lrow
.Ldone:
    ret
    .size gemv, .-gemv
    .section .note.GNU-stack,"",%progbits
