    .text
    .p2align 1
    .globl dot_i32
    .type dot_i32, @function
dot_i32:
    li t0, 0
    andi t1, a2, 1
    sub a2, a2, t1
    slli a2, a2, 2
    add a2, a0, a2                  # end of the pairs
    j .Lmore
.Lpair:
    lw t2, 0(a0)
    lw t3, 0(a1)
    lw t4, 4(a0)
    lw t5, 4(a1)
    mulw t2, t2, t3
    mulw t4, t4, t5
    addi a0, a0, 8
    addi a1, a1, 8
    addw t0, t0, t2
    addw t0, t0, t4
.Lmore:
    bne a0, a2, .Lpair
    beqz t1, .Ldone
    lw t2, 0(a0)
    lw t3, 0(a1)
    mulw t2, t2, t3
    addw t0, t0, t2
.Ldone:
    mv a0, t0
    ret
    .size dot_i32, .-dot_i32
    .section .note.GNU-stack,"",@progbits
