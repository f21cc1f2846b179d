    .text
    .p2align 2
    .globl popcount_sum
    .type popcount_sum, %function
popcount_sum:
    movi v0.2d, #0
    subs x1, x1, #4
    b.lt .Lfew
.Lfour:
    ldp q1, q2, [x0], #32
    cnt v1.16b, v1.16b
    cnt v2.16b, v2.16b
    add v1.16b, v1.16b, v2.16b
    uaddlp v1.8h, v1.16b
    uaddlp v1.4s, v1.8h
    uadalp v0.2d, v1.4s
    subs x1, x1, #4
    b.ge .Lfour
.Lfew:
    addp d0, v0.2d
    fmov x2, d0
    adds x1, x1, #4
    b.eq .Ldone
.Lone:
    ldr d1, [x0], #8
    cnt v1.8b, v1.8b
    addv b1, v1.8b
    fmov w3, s1
    add x2, x2, x3
    subs x1, x1, #1
    b.ne .Lone
.Ldone:
    mov x0, x2
    ret
    .size popcount_sum, .-popcount_sum
    .section .note.GNU-stack,"",%progbits
