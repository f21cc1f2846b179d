# Two rows of the product in a register: each element of the rows of a, spread over its half, times a row of b in both
# halves. Products are added in the order of the reference.
    .text
    .p2align 5
    .globl matmul4
    .type matmul4, @function
matmul4:
    testq %rcx, %rcx
    jz 2f
    .p2align 4
1:
    vmovups (%rdi), %ymm4
    vmovups 32(%rdi), %ymm5
    vbroadcastf128 (%rsi), %ymm0
    vbroadcastf128 16(%rsi), %ymm1
    vbroadcastf128 32(%rsi), %ymm2
    vbroadcastf128 48(%rsi), %ymm3
    vpermilps $0x00, %ymm4, %ymm6
    vpermilps $0x00, %ymm5, %ymm7
    vpermilps $0x55, %ymm4, %ymm8
    vpermilps $0x55, %ymm5, %ymm9
    vpermilps $0xaa, %ymm4, %ymm10
    vpermilps $0xaa, %ymm5, %ymm11
    vpermilps $0xff, %ymm4, %ymm12
    vpermilps $0xff, %ymm5, %ymm13
    vmulps %ymm0, %ymm6, %ymm6
    vmulps %ymm0, %ymm7, %ymm7
    vmulps %ymm1, %ymm8, %ymm8
    vmulps %ymm1, %ymm9, %ymm9
    vmulps %ymm2, %ymm10, %ymm10
    vmulps %ymm2, %ymm11, %ymm11
    vmulps %ymm3, %ymm12, %ymm12
    vmulps %ymm3, %ymm13, %ymm13
    vaddps %ymm8, %ymm6, %ymm6
    vaddps %ymm9, %ymm7, %ymm7
    vaddps %ymm10, %ymm6, %ymm6
    vaddps %ymm11, %ymm7, %ymm7
    vaddps %ymm12, %ymm6, %ymm6
    vaddps %ymm13, %ymm7, %ymm7
    vmovups %ymm6, (%rdx)
    vmovups %ymm7, 32(%rdx)
    addq $64, %rdi
    addq $64, %rsi
    addq $64, %rdx
    decq %rcx
    jnz 1b
    vzeroupper
2:
    ret
    .size matmul4, .-matmul4
    .section .note.GNU-stack,"",@progbits
