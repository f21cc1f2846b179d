    .text
    .p2align 1
    .globl adler32
    .type adler32, @function
adler32:
    li t0, 1                        # a
    li t1, 0                        # b
    li t2, 65521
    li t3, 5552                     # bytes that the sums stay within 32 bits for
.Lrun:
    beqz a1, .Ldone
    mv t4, a1
    bleu t4, t3, .Lsome
    mv t4, t3
.Lsome:
    sub a1, a1, t4
    add t4, t4, a0
.Lbyte:
    lbu t5, 0(a0)
    addi a0, a0, 1
    add t0, t0, t5
    add t1, t1, t0
    bne a0, t4, .Lbyte
    remu t0, t0, t2
    remu t1, t1, t2
    j .Lrun
.Ldone:
    slli t1, t1, 16
    or a0, t1, t0
    sext.w a0, a0
    ret
    .size adler32, .-adler32
    .section .note.GNU-stack,"",@progbits
