    .text
    .p2align 1
    .globl dot_i8
    .type dot_i8, @function
dot_i8:
    add a2, a0, a2
    li t0, 0
    beq a0, a2, .Ldone
.Lone:
    lb t1, 0(a0)
    lb t2, 0(a1)
    addi a0, a0, 1
    addi a1, a1, 1
    mul t1, t1, t2
    add t0, t0, t1
    bne a0, a2, .Lone
.Ldone:
    sext.w a0, t0
    ret
    .size dot_i8, .-dot_i8
    .section .note.GNU-stack,"",@progbits
