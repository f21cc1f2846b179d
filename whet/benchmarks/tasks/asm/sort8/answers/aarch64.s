    .text
    .p2align 2
    .globl sort_rows
    .type sort_rows, %function
sort_rows:
    cbz x1, .Ldone
.Lrow:
    ldp w2, w3, [x0]
    ldp w4, w5, [x0, #8]
    ldp w6, w7, [x0, #16]
    ldp w8, w9, [x0, #24]
    cmp w2, w4
    csel w10, w2, w4, le
    csel w4, w4, w2, le
    cmp w3, w5
    csel w2, w3, w5, le
    csel w5, w5, w3, le
    cmp w6, w8
    csel w3, w6, w8, le
    csel w8, w8, w6, le
    cmp w7, w9
    csel w6, w7, w9, le
    csel w9, w9, w7, le
    cmp w10, w3
    csel w7, w10, w3, le
    csel w3, w3, w10, le
    cmp w2, w6
    csel w10, w2, w6, le
    csel w6, w6, w2, le
    cmp w4, w8
    csel w2, w4, w8, le
    csel w8, w8, w4, le
    cmp w5, w9
    csel w4, w5, w9, le
    csel w9, w9, w5, le
    cmp w7, w10
    csel w5, w7, w10, le
    csel w10, w10, w7, le
    cmp w2, w4
    csel w7, w2, w4, le
    csel w4, w4, w2, le
    cmp w3, w6
    csel w2, w3, w6, le
    csel w6, w6, w3, le
    cmp w8, w9
    csel w3, w8, w9, le
    csel w9, w9, w8, le
    cmp w7, w2
    csel w8, w7, w2, le
    csel w2, w2, w7, le
    cmp w4, w6
    csel w7, w4, w6, le
    csel w6, w6, w4, le
    cmp w10, w2
    csel w4, w10, w2, le
    csel w2, w2, w10, le
    cmp w7, w3
    csel w10, w7, w3, le
    csel w3, w3, w7, le
    cmp w4, w8
    csel w7, w4, w8, le
    csel w8, w8, w4, le
    cmp w10, w2
    csel w4, w10, w2, le
    csel w2, w2, w10, le
    cmp w6, w3
    csel w10, w6, w3, le
    csel w3, w3, w6, le
    stp w5, w7, [x0], #8
    stp w8, w4, [x0], #8
    stp w2, w10, [x0], #8
    stp w3, w9, [x0], #8
    subs x1, x1, #1
    b.ne .Lrow
.Ldone:
    ret
    .size sort_rows, .-sort_rows
    .section .note.GNU-stack,"",%progbits
