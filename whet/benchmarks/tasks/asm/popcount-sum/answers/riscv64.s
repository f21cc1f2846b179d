    .text
    .p2align 1
    .globl popcount_sum
    .type popcount_sum, @function
popcount_sum:
    lla t0, .Lmasks
    ld t1, 0(t0)                    # pairs
    ld t2, 8(t0)                    # half-bytes
    ld t3, 16(t0)                   # bytes
    ld t4, 24(t0)
    slli a1, a1, 3
    add a1, a0, a1
    mv t0, a0
    li a0, 0
    beq t0, a1, .Ldone
.Lword:
    ld t5, 0(t0)
    addi t0, t0, 8
    srli t6, t5, 1
    and t6, t6, t1
    sub t5, t5, t6
    srli t6, t5, 2
    and t5, t5, t2
    and t6, t6, t2
    add t5, t5, t6
    srli t6, t5, 4
    add t5, t5, t6
    and t5, t5, t3
    mul t5, t5, t4
    srli t5, t5, 56
    add a0, a0, t5
    bne t0, a1, .Lword
.Ldone:
    ret
    .size popcount_sum, .-popcount_sum
    .section .rodata
    .p2align 3
.Lmasks:
    .dword 0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f, 0x0101010101010101
    .section .note.GNU-stack,"",@progbits
