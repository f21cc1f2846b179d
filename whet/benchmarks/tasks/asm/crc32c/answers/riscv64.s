    .text
    .p2align 1
    .globl crc32c
    .type crc32c, @function
crc32c:
    li t0, -1
    srli t0, t0, 32                 # the remainder, without sign
    lla t1, .Ltable
    add a1, a0, a1
    beq a0, a1, .Ldone
.Lbyte:
    lbu t2, 0(a0)
    addi a0, a0, 1
    xor t0, t0, t2
    andi t3, t0, 15
    slli t3, t3, 2
    add t3, t3, t1
    lwu t4, 0(t3)
    srli t0, t0, 4
    xor t0, t0, t4
    andi t3, t0, 15
    slli t3, t3, 2
    add t3, t3, t1
    lwu t4, 0(t3)
    srli t0, t0, 4
    xor t0, t0, t4
    bne a0, a1, .Lbyte
.Ldone:
    not t0, t0
    sext.w a0, t0
    ret
    .size crc32c, .-crc32c
    .section .rodata
    .p2align 2
.Ltable:
    .word 0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1
    .word 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d
    .word 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9
    .word 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75
    .section .note.GNU-stack,"",@progbits
