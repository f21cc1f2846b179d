    .text
    .p2align 2
    .globl crc32c
    .type crc32c, %function
crc32c:
    mov w2, #-1
    add x1, x0, x1                  // end
    adrp x3, .Ltable
    add x3, x3, :lo12:.Ltable
    b .Lmore
.Lbyte:
    ldrb w4, [x0], #1
    eor w2, w2, w4
    and w5, w2, #15
    ldr w6, [x3, w5, uxtw #2]
    eor w2, w6, w2, lsr #4
    and w5, w2, #15
    ldr w6, [x3, w5, uxtw #2]
    eor w2, w6, w2, lsr #4
.Lmore:
    cmp x0, x1
    b.ne .Lbyte
    mvn w0, w2
    ret
    .size crc32c, .-crc32c
    .section .rodata
    .p2align 2
.Ltable:
    .word 0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1
    .word 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d
    .word 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9
    .word 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75
    .section .note.GNU-stack,"",%progbits
