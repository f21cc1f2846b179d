    .text
    .p2align 2
    .globl base64_encode
    .type base64_encode, %function
base64_encode:
    mov x3, x2                      // where the output goes on
    adrp x4, .Lalphabet
    add x4, x4, :lo12:.Lalphabet
    subs x1, x1, #3
    b.lt .Lpad
.Lthree:
    ldrb w5, [x0], #1
    ldrb w6, [x0], #1
    ldrb w7, [x0], #1
    orr w7, w7, w6, lsl #8
    orr w7, w7, w5, lsl #16
    lsr w5, w7, #18
    ubfx w6, w7, #12, #6
    ubfx w8, w7, #6, #6
    and w9, w7, #63
    ldrb w5, [x4, x5]
    ldrb w6, [x4, x6]
    ldrb w8, [x4, x8]
    ldrb w9, [x4, x9]
    strb w5, [x3], #1
    strb w6, [x3], #1
    strb w8, [x3], #1
    strb w9, [x3], #1
    subs x1, x1, #3
    b.ge .Lthree
.Lpad:
    adds x1, x1, #3
    b.eq .Ldone
    mov w8, #'='
    mov w9, #'='
    ldrb w5, [x0]
    ubfiz w6, w5, #4, #2
    lsr w5, w5, #2
    subs x1, x1, #1
    b.eq .Lput
    ldrb w7, [x0, #1]
    orr w6, w6, w7, lsr #4
    ubfiz w7, w7, #2, #4
    ldrb w8, [x4, x7]
.Lput:
    ldrb w5, [x4, x5]
    ldrb w6, [x4, x6]
    strb w5, [x3], #1
    strb w6, [x3], #1
    strb w8, [x3], #1
    strb w9, [x3], #1
.Ldone:
    sub x0, x3, x2
    ret
    .size base64_encode, .-base64_encode
    .section .rodata
.Lalphabet:
    .ascii "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    .section .note.GNU-stack,"",%progbits
