    .text
    .p2align 1
    .globl prefix_sum
    .type prefix_sum, @function
prefix_sum:
    li t0, 0
    beqz a2, .Ldone
.Lone:
    lw t1, 0(a0)
    addi a0, a0, 4
    addi a2, a2, -1
    addw t0, t0, t1
    sw t0, 0(a1)
    addi a1, a1, 4
    bnez a2, .Lone
.Ldone:
    ret
    .size prefix_sum, .-prefix_sum
    .section .note.GNU-stack,"",@progbits
