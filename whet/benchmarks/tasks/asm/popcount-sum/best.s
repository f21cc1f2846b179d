# Eight registers of bits are added up by carry-save adders, so only one register in eight, that of the carries, is
# counted, by a table of the sixteen half-bytes. What is left goes word by word.
    .text
    .p2align 5
    .globl popcount_sum
    .type popcount_sum, @function
popcount_sum:
    xorl %eax, %eax
    subq $32, %rsi
    jl .Lwords
    vpxor %xmm0, %xmm0, %xmm0       # ones
    vpxor %xmm1, %xmm1, %xmm1       # twos
    vpxor %xmm2, %xmm2, %xmm2       # fours
    vpxor %xmm12, %xmm12, %xmm12
    vpxor %xmm13, %xmm13, %xmm13    # eights, counted
    vmovdqa .Lcounts(%rip), %ymm14
    vmovdqa .Lhalf(%rip), %ymm15
    .p2align 4
.Lturn:
    vmovdqu 0(%rdi), %ymm8
    vmovdqu 32(%rdi), %ymm9
    vpxor %ymm8, %ymm0, %ymm10
    vpand %ymm8, %ymm0, %ymm4
    vpxor %ymm9, %ymm10, %ymm0
    vpand %ymm9, %ymm10, %ymm10
    vpor %ymm10, %ymm4, %ymm4
    vmovdqu 64(%rdi), %ymm8
    vmovdqu 96(%rdi), %ymm9
    vpxor %ymm8, %ymm0, %ymm10
    vpand %ymm8, %ymm0, %ymm5
    vpxor %ymm9, %ymm10, %ymm0
    vpand %ymm9, %ymm10, %ymm10
    vpor %ymm10, %ymm5, %ymm5
    vpxor %ymm4, %ymm1, %ymm10
    vpand %ymm4, %ymm1, %ymm6
    vpxor %ymm5, %ymm10, %ymm1
    vpand %ymm5, %ymm10, %ymm10
    vpor %ymm10, %ymm6, %ymm6
    vmovdqu 128(%rdi), %ymm8
    vmovdqu 160(%rdi), %ymm9
    vpxor %ymm8, %ymm0, %ymm10
    vpand %ymm8, %ymm0, %ymm4
    vpxor %ymm9, %ymm10, %ymm0
    vpand %ymm9, %ymm10, %ymm10
    vpor %ymm10, %ymm4, %ymm4
    vmovdqu 192(%rdi), %ymm8
    vmovdqu 224(%rdi), %ymm9
    vpxor %ymm8, %ymm0, %ymm10
    vpand %ymm8, %ymm0, %ymm5
    vpxor %ymm9, %ymm10, %ymm0
    vpand %ymm9, %ymm10, %ymm10
    vpor %ymm10, %ymm5, %ymm5
    vpxor %ymm4, %ymm1, %ymm10
    vpand %ymm4, %ymm1, %ymm7
    vpxor %ymm5, %ymm10, %ymm1
    vpand %ymm5, %ymm10, %ymm10
    vpor %ymm10, %ymm7, %ymm7
    vpxor %ymm6, %ymm2, %ymm10
    vpand %ymm6, %ymm2, %ymm11
    vpxor %ymm7, %ymm10, %ymm2
    vpand %ymm7, %ymm10, %ymm10
    vpor %ymm10, %ymm11, %ymm11
    vpand %ymm15, %ymm11, %ymm8
    vpsrlw $4, %ymm11, %ymm9
    vpand %ymm15, %ymm9, %ymm9
    vpshufb %ymm8, %ymm14, %ymm8
    vpshufb %ymm9, %ymm14, %ymm9
    vpaddb %ymm9, %ymm8, %ymm8
    vpsadbw %ymm12, %ymm8, %ymm8
    vpaddq %ymm8, %ymm13, %ymm13
    addq $256, %rdi
    subq $32, %rsi
    jge .Lturn
    vpsllq $3, %ymm13, %ymm13
    vpand %ymm15, %ymm0, %ymm8
    vpsrlw $4, %ymm0, %ymm9
    vpand %ymm15, %ymm9, %ymm9
    vpshufb %ymm8, %ymm14, %ymm8
    vpshufb %ymm9, %ymm14, %ymm9
    vpaddb %ymm9, %ymm8, %ymm8
    vpsadbw %ymm12, %ymm8, %ymm8
    vpaddq %ymm8, %ymm13, %ymm13
    vpand %ymm15, %ymm1, %ymm8
    vpsrlw $4, %ymm1, %ymm9
    vpand %ymm15, %ymm9, %ymm9
    vpshufb %ymm8, %ymm14, %ymm8
    vpshufb %ymm9, %ymm14, %ymm9
    vpaddb %ymm9, %ymm8, %ymm8
    vpsadbw %ymm12, %ymm8, %ymm8
    vpsllq $1, %ymm8, %ymm8
    vpaddq %ymm8, %ymm13, %ymm13
    vpand %ymm15, %ymm2, %ymm8
    vpsrlw $4, %ymm2, %ymm9
    vpand %ymm15, %ymm9, %ymm9
    vpshufb %ymm8, %ymm14, %ymm8
    vpshufb %ymm9, %ymm14, %ymm9
    vpaddb %ymm9, %ymm8, %ymm8
    vpsadbw %ymm12, %ymm8, %ymm8
    vpsllq $2, %ymm8, %ymm8
    vpaddq %ymm8, %ymm13, %ymm13
    vextracti128 $1, %ymm13, %xmm0
    vpaddq %xmm0, %xmm13, %xmm13
    vpshufd $0x4e, %xmm13, %xmm0
    vpaddq %xmm0, %xmm13, %xmm13
    vmovq %xmm13, %rax
    vzeroupper
.Lwords:
    addq $32, %rsi
    jz 2f
1:
    popcntq (%rdi), %rcx
    addq $8, %rdi
    addq %rcx, %rax
    decq %rsi
    jnz 1b
2:
    ret
    .size popcount_sum, .-popcount_sum
    .section .rodata
    .p2align 5
.Lcounts:
    .byte 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4
    .byte 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4
.Lhalf:
    .byte 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15
    .byte 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15
    .section .note.GNU-stack,"",@progbits
