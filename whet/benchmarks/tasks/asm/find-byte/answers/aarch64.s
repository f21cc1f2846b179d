    .text
    .p2align 2
    .globl find_byte
    .type find_byte, %function
find_byte:
    dup v0.16b, w2
    and w2, w2, #0xff
    mov x3, #0                      // place
    subs x4, x1, #16                // the last place of a whole block
    b.lt .Lrest
.Lblock:
    ldr q1, [x0, x3]
    cmeq v1.16b, v1.16b, v0.16b
    shrn v2.8b, v1.8h, #4           // four bits for each byte
    fmov x5, d2
    cbnz x5, .Lhere
    add x3, x3, #16
    cmp x3, x4
    b.le .Lblock
    b .Lrest
.Lhere:
    rbit x5, x5
    clz x5, x5
    add x0, x3, x5, lsr #2
    ret
.Lbyte:
    ldrb w5, [x0, x3]
    cmp w5, w2
    b.eq .Lfound
    add x3, x3, #1
.Lrest:
    cmp x3, x1
    b.lt .Lbyte
    mov x3, #-1
.Lfound:
    mov x0, x3
    ret
    .size find_byte, .-find_byte
    .section .note.GNU-stack,"",%progbits
