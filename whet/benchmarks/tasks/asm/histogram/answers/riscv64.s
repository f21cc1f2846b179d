    .text
    .p2align 1
    .globl histogram
    .type histogram, @function
histogram:
    addi t0, a2, 1024
    mv t1, a2
.Lclear:
    sw zero, 0(t1)
    sw zero, 4(t1)
    addi t1, t1, 8
    bne t1, t0, .Lclear
    add a1, a0, a1
    beq a0, a1, .Ldone
.Lbyte:
    lbu t0, 0(a0)
    addi a0, a0, 1
    slli t0, t0, 2
    add t0, t0, a2
    lw t1, 0(t0)
    addi t1, t1, 1
    sw t1, 0(t0)
    bne a0, a1, .Lbyte
.Ldone:
    ret
    .size histogram, .-histogram
    .section .note.GNU-stack,"",@progbits
