    .text
    .p2align 2
    .globl prefix_sum
    .type prefix_sum, %function
prefix_sum:
    movi v0.4s, #0                  // the sum so far
    movi v7.4s, #0
    subs x2, x2, #4
    b.lt .Lfew
.Lfour:
    ldr q1, [x0], #16
    ext v2.16b, v7.16b, v1.16b, #12 // one up
    add v1.4s, v1.4s, v2.4s
    ext v2.16b, v7.16b, v1.16b, #8  // two up
    add v1.4s, v1.4s, v2.4s
    add v1.4s, v1.4s, v0.4s
    str q1, [x1], #16
    dup v0.4s, v1.s[3]
    subs x2, x2, #4
    b.ge .Lfour
.Lfew:
    fmov w3, s0
    adds x2, x2, #4
    b.eq .Ldone
.Lone:
    ldr w4, [x0], #4
    add w3, w3, w4
    str w3, [x1], #4
    subs x2, x2, #1
    b.ne .Lone
.Ldone:
    ret
    .size prefix_sum, .-prefix_sum
    .section .note.GNU-stack,"",%progbits
