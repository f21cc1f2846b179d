    .text
    .p2align 2
    .globl utf8_valid
    .type utf8_valid, %function
utf8_valid:
    add x1, x0, x1                  // end
.Lcharacter:
    sub x2, x1, x0
    cmp x2, #8
    b.lt .Lone
    ldr x3, [x0]
    tst x3, #0x8080808080808080
    b.ne .Lone
    add x0, x0, #8                  // eight plain ones
    b .Lcharacter
.Lone:
    cmp x0, x1
    b.eq .Lvalid
    ldrb w3, [x0], #1
    tbz w3, #7, .Lcharacter
    mov w4, #0x80                   // bounds of the second byte
    mov w5, #0xbf
    sub w6, w3, #0xc2
    cmp w6, #0xdf - 0xc2
    mov x7, #1                      // bytes that follow
    b.ls .Lsecond
    mov x7, #2
    sub w6, w3, #0xe0
    cmp w6, #15
    b.ls .Lthree
    mov x7, #3
    sub w6, w3, #0xf0
    cmp w6, #4
    b.hi .Lwrong
    mov w8, #0x90
    cmp w6, #0
    csel w4, w8, w4, eq
    mov w8, #0x8f
    cmp w6, #4
    csel w5, w8, w5, eq
    b .Lsecond
.Lthree:
    mov w8, #0xa0
    cmp w6, #0
    csel w4, w8, w4, eq
    mov w8, #0x9f
    cmp w6, #0xd
    csel w5, w8, w5, eq
.Lsecond:
    sub x2, x1, x0
    cmp x2, x7
    b.lt .Lwrong
    ldrb w3, [x0], #1
    cmp w3, w4
    b.lo .Lwrong
    cmp w3, w5
    b.hi .Lwrong
.Lfollowing:
    subs x7, x7, #1
    b.eq .Lcharacter
    ldrb w3, [x0], #1
    and w3, w3, #0xc0
    cmp w3, #0x80
    b.eq .Lfollowing
.Lwrong:
    mov w0, #0
    ret
.Lvalid:
    mov w0, #1
    ret
    .size utf8_valid, .-utf8_valid
    .section .note.GNU-stack,"",%progbits
