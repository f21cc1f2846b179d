    .text
    .p2align 2
    .globl jacobi
    .type jacobi, %function
jacobi:
    mul x5, x3, x4                  // points
    cmp x3, #3
    b.lt .Lcopy
    cmp x4, #3
    b.lt .Lcopy
    lsl x6, x4, #2                  // bytes of a row
    fmov v7.4s, #0.25
    mov x7, x4                      // the first row
    mov x8, x0
    mov x9, x2
1:
    ldr s0, [x8], #4
    str s0, [x9], #4
    subs x7, x7, #1
    b.ne 1b
    add x1, x1, x6                  // x8, x9, x1: in, out and source at the second row
    sub x3, x3, #2
.Lrow:
    ldr s0, [x8]
    str s0, [x9]
    sub x10, x8, x6
    add x10, x10, #4                // above
    add x11, x8, x6
    add x11, x11, #4                // below
    mov x12, x8                     // to the left
    add x13, x8, #8                 // to the right
    add x14, x1, #4
    add x15, x9, #4
    subs x7, x4, #6                 // inner points left, less 4
    b.lt 2f
1:
    ldr q0, [x10], #16
    ldr q1, [x11], #16
    ldr q2, [x12], #16
    ldr q3, [x13], #16
    ldr q4, [x14], #16
    fadd v0.4s, v0.4s, v1.4s
    fadd v0.4s, v0.4s, v2.4s
    fadd v0.4s, v0.4s, v3.4s
    fmla v4.4s, v0.4s, v7.4s
    str q4, [x15], #16
    subs x7, x7, #4
    b.ge 1b
2:
    adds x7, x7, #4
    b.eq 4f
3:
    ldr s0, [x10], #4
    ldr s1, [x11], #4
    ldr s2, [x12], #4
    ldr s3, [x13], #4
    ldr s4, [x14], #4
    fadd s0, s0, s1
    fadd s0, s0, s2
    fadd s0, s0, s3
    fmadd s4, s0, s7, s4
    str s4, [x15], #4
    subs x7, x7, #1
    b.ne 3b
4:
    add x8, x8, x6
    add x9, x9, x6
    add x1, x1, x6
    ldr s0, [x8, #-4]
    str s0, [x9, #-4]
    subs x3, x3, #1
    b.ne .Lrow
    mov x5, x4                      // the last row
    mov x0, x8
    mov x2, x9
.Lcopy:
    cbz x5, 2f
1:
    ldr s0, [x0], #4
    str s0, [x2], #4
    subs x5, x5, #1
    b.ne 1b
2:
    ret
    .size jacobi, .-jacobi
    .section .note.GNU-stack,"",%progbits
