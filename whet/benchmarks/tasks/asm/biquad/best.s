# Only the product with the last output waits for it: everything else is added up before, so one fused operation lies
# between an output and the next.
    .text
    .p2align 5
    .globl biquad
    .type biquad, @function
biquad:
    testq %rdx, %rdx
    jz 2f
    vmovss (%rcx), %xmm8            # b0
    vmovss 4(%rcx), %xmm9
    vmovss 8(%rcx), %xmm10
    vmovss 12(%rcx), %xmm11         # a1
    vmovss 16(%rcx), %xmm12
    vxorps %xmm0, %xmm0, %xmm0      # the last input
    vxorps %xmm1, %xmm1, %xmm1
    vxorps %xmm2, %xmm2, %xmm2      # the last output
    vxorps %xmm3, %xmm3, %xmm3
    .p2align 4
1:
    vmulss %xmm1, %xmm10, %xmm4
    vmovaps %xmm0, %xmm1
    vfmadd231ss %xmm0, %xmm9, %xmm4
    vmovss (%rdi), %xmm0
    addq $4, %rdi
    vfmadd231ss %xmm0, %xmm8, %xmm4
    vfnmadd231ss %xmm3, %xmm12, %xmm4
    vmovaps %xmm2, %xmm3
    vfnmadd231ss %xmm2, %xmm11, %xmm4
    vmovaps %xmm4, %xmm2
    vmovss %xmm4, (%rsi)
    addq $4, %rsi
    decq %rdx
    jnz 1b
2:
    ret
    .size biquad, .-biquad
    .section .note.GNU-stack,"",@progbits
