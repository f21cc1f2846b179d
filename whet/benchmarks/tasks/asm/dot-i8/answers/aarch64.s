    .text
    .p2align 2
    .globl dot_i8
    .type dot_i8, %function
dot_i8:
    movi v0.4s, #0
    movi v1.4s, #0
    subs x2, x2, #16
    b.lt .Lsum
.Lturn:
    ldr q2, [x0], #16
    ldr q3, [x1], #16
    smull v4.8h, v2.8b, v3.8b
    smull2 v5.8h, v2.16b, v3.16b
    sadalp v0.4s, v4.8h
    sadalp v1.4s, v5.8h
    subs x2, x2, #16
    b.ge .Lturn
.Lsum:
    add v0.4s, v0.4s, v1.4s
    addv s0, v0.4s
    fmov w3, s0
    adds x2, x2, #16
    b.eq .Ldone
.Lone:
    ldrsb w4, [x0], #1
    ldrsb w5, [x1], #1
    madd w3, w4, w5, w3
    subs x2, x2, #1
    b.ne .Lone
.Ldone:
    mov w0, w3
    ret
    .size dot_i8, .-dot_i8
    .section .note.GNU-stack,"",%progbits
