    .text
    .p2align 2
    .globl biquad
    .type biquad, %function
biquad:
    cbz x2, .Ldone
    ldp s16, s17, [x3]              // b0, b1
    ldp s18, s19, [x3, #8]          // b2, a1
    ldr s20, [x3, #16]              // a2
    movi d1, #0                     // the last inputs
    movi d2, #0
    movi d3, #0                     // the last outputs
    movi d4, #0
.Lsample:
    ldr s0, [x0], #4
    fmul s5, s16, s0
    fmul s6, s17, s1
    fmul s7, s18, s2
    fadd s5, s5, s6
    fmul s6, s19, s3
    fadd s5, s5, s7
    fmul s7, s20, s4
    fsub s5, s5, s6
    fmov s2, s1
    fsub s5, s5, s7
    fmov s1, s0
    fmov s4, s3
    fmov s3, s5
    str s5, [x1], #4
    subs x2, x2, #1
    b.ne .Lsample
.Ldone:
    ret
    .size biquad, .-biquad
    .section .note.GNU-stack,"",%progbits
