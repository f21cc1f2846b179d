    .text
    .p2align 1
    .globl bit_reverse
    .type bit_reverse, @function
bit_reverse:
    li t1, 0x55555555
    li t2, 0x33333333
    li t3, 0x0f0f0f0f
    li t4, 0x00ff00ff
    slli a2, a2, 2
    add a2, a0, a2
    beq a0, a2, .Ldone
.Lone:
    lwu t5, 0(a0)
    addi a0, a0, 4
    srli t6, t5, 1
    and t5, t5, t1
    and t6, t6, t1
    slli t5, t5, 1
    or t5, t5, t6
    srli t6, t5, 2
    and t5, t5, t2
    and t6, t6, t2
    slli t5, t5, 2
    or t5, t5, t6
    srli t6, t5, 4
    and t5, t5, t3
    and t6, t6, t3
    slli t5, t5, 4
    or t5, t5, t6
    srli t6, t5, 8
    and t5, t5, t4
    and t6, t6, t4
    slli t5, t5, 8
    or t5, t5, t6
    srli t6, t5, 16
    slli t5, t5, 16
    or t5, t5, t6
    sw t5, 0(a1)
    addi a1, a1, 4
    bne a0, a2, .Lone
.Ldone:
    ret
    .size bit_reverse, .-bit_reverse
    .section .note.GNU-stack,"",@progbits
