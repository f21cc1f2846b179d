    .text
    .p2align 2
    .globl string_hash
    .type string_hash, %function
string_hash:
    mov w2, #0
    mov w3, #31
    mov w8, #29791                  // 31^3
    mov w9, #961
    mov w10, #923521 & 0xffff       // 31^4
    movk w10, #923521 >> 16, lsl #16
    subs x1, x1, #4
    b.lt .Lfew
.Lfour:
    ldrb w4, [x0]
    ldrb w5, [x0, #1]
    ldrb w6, [x0, #2]
    ldrb w7, [x0, #3]
    add x0, x0, #4
    madd w7, w6, w3, w7
    mul w4, w4, w8
    madd w7, w5, w9, w7
    add w4, w4, w7
    madd w2, w2, w10, w4
    subs x1, x1, #4
    b.ge .Lfour
.Lfew:
    adds x1, x1, #4
    b.eq .Ldone
.Lone:
    ldrb w4, [x0], #1
    madd w2, w2, w3, w4
    subs x1, x1, #1
    b.ne .Lone
.Ldone:
    mov w0, w2
    ret
    .size string_hash, .-string_hash
    .section .note.GNU-stack,"",%progbits
