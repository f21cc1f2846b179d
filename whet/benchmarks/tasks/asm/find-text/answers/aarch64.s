    .text
    .p2align 2
    .globl find_text
    .type find_text, %function
find_text:
    subs x4, x1, x3                 // the last place
    b.lt .Lnone
    cbz x3, .Lstart
    ldrb w5, [x2]                   // the first letter
    mov x6, #0
.Lplace:
    ldrb w7, [x0, x6]
    cmp w7, w5
    b.eq .Lcompare
.Lnext:
    add x6, x6, #1
    cmp x6, x4
    b.le .Lplace
.Lnone:
    mov x0, #-1
    ret
.Lcompare:
    add x8, x0, x6
    mov x9, #1
.Lletter:
    cmp x9, x3
    b.eq .Lfound
    ldrb w10, [x8, x9]
    ldrb w11, [x2, x9]
    add x9, x9, #1
    cmp w10, w11
    b.eq .Lletter
    b .Lnext
.Lfound:
    mov x0, x6
    ret
.Lstart:
    mov x0, #0
    ret
    .size find_text, .-find_text
    .section .note.GNU-stack,"",%progbits
