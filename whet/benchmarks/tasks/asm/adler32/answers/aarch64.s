    .text
    .p2align 2
    .globl adler32
    .type adler32, %function
adler32:
    mov w2, #1                      // a
    mov w3, #0                      // b
    mov w6, #65521
.Lrun:
    cbz x1, .Ldone
    mov x4, #5552                   // bytes that the sums stay within 32 bits for
    cmp x1, x4
    csel x4, x1, x4, lo
    sub x1, x1, x4
.Lbyte:
    ldrb w5, [x0], #1
    subs x4, x4, #1
    add w2, w2, w5
    add w3, w3, w2
    b.ne .Lbyte
    udiv w5, w2, w6
    msub w2, w5, w6, w2
    udiv w5, w3, w6
    msub w3, w5, w6, w3
    b .Lrun
.Ldone:
    orr w0, w2, w3, lsl #16
    ret
    .size adler32, .-adler32
    .section .note.GNU-stack,"",%progbits
