    .text
    .p2align 2
    .globl dot_i32
    .type dot_i32, %function
dot_i32:
    movi v0.4s, #0
    movi v1.4s, #0
    subs x2, x2, #8
    b.lt .Lsum
.Lturn:
    ldp q2, q3, [x0], #32
    ldp q4, q5, [x1], #32
    mla v0.4s, v2.4s, v4.4s
    mla v1.4s, v3.4s, v5.4s
    subs x2, x2, #8
    b.ge .Lturn
.Lsum:
    add v0.4s, v0.4s, v1.4s
    addv s0, v0.4s
    fmov w3, s0
    adds x2, x2, #8
    b.eq .Ldone
.Lone:
    ldr w4, [x0], #4
    ldr w5, [x1], #4
    madd w3, w4, w5, w3
    subs x2, x2, #1
    b.ne .Lone
.Ldone:
    mov w0, w3
    ret
    .size dot_i32, .-dot_i32
    .section .note.GNU-stack,"",%progbits
