    .text
    .p2align 2
    .globl varint_decode
    .type varint_decode, %function
varint_decode:
    add x1, x0, x1                  // end
    mov x3, x2                      // where the next number goes
.Lnumber:
    cmp x0, x1
    b.eq .Ldone
    ldrb w4, [x0], #1
    tbz w4, #7, .Lput
    and x4, x4, #0x7f
    mov w6, #7
.Lgroup:
    cmp x0, x1
    b.eq .Ldone
    ldrb w5, [x0], #1
    cmp w6, #63
    and x7, x5, #0x7f
    lsl x7, x7, x6
    csel x7, x7, xzr, ls            // bits above the 64th are dropped
    orr x4, x4, x7
    add w6, w6, #7
    tbnz w5, #7, .Lgroup
.Lput:
    str x4, [x3], #8
    b .Lnumber
.Ldone:
    sub x0, x3, x2
    asr x0, x0, #3
    ret
    .size varint_decode, .-varint_decode
    .section .note.GNU-stack,"",%progbits
