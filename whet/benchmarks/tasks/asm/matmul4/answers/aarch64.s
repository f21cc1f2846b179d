    .text
    .p2align 2
    .globl matmul4
    .type matmul4, %function
matmul4:
    cbz x3, .Ldone
.Lpair:
    ld1 {v0.4s, v1.4s, v2.4s, v3.4s}, [x0], #64
    ld1 {v4.4s, v5.4s, v6.4s, v7.4s}, [x1], #64
    fmul v16.4s, v4.4s, v0.s[0]
    fmul v17.4s, v4.4s, v1.s[0]
    fmul v18.4s, v4.4s, v2.s[0]
    fmul v19.4s, v4.4s, v3.s[0]
    fmul v20.4s, v5.4s, v0.s[1]
    fmul v21.4s, v5.4s, v1.s[1]
    fmul v22.4s, v5.4s, v2.s[1]
    fmul v23.4s, v5.4s, v3.s[1]
    fadd v16.4s, v16.4s, v20.4s
    fadd v17.4s, v17.4s, v21.4s
    fadd v18.4s, v18.4s, v22.4s
    fadd v19.4s, v19.4s, v23.4s
    fmul v20.4s, v6.4s, v0.s[2]
    fmul v21.4s, v6.4s, v1.s[2]
    fmul v22.4s, v6.4s, v2.s[2]
    fmul v23.4s, v6.4s, v3.s[2]
    fadd v16.4s, v16.4s, v20.4s
    fadd v17.4s, v17.4s, v21.4s
    fadd v18.4s, v18.4s, v22.4s
    fadd v19.4s, v19.4s, v23.4s
    fmul v20.4s, v7.4s, v0.s[3]
    fmul v21.4s, v7.4s, v1.s[3]
    fmul v22.4s, v7.4s, v2.s[3]
    fmul v23.4s, v7.4s, v3.s[3]
    fadd v16.4s, v16.4s, v20.4s
    fadd v17.4s, v17.4s, v21.4s
    fadd v18.4s, v18.4s, v22.4s
    fadd v19.4s, v19.4s, v23.4s
    st1 {v16.4s, v17.4s, v18.4s, v19.4s}, [x2], #64
    subs x3, x3, #1
    b.ne .Lpair
.Ldone:
    ret
    .size matmul4, .-matmul4
    .section .note.GNU-stack,"",%progbits
