# Sums of eight inside a register by two shifts and one step across its halves; only the addition of the carry depends on
# the eight before.
    .text
    .p2align 5
    .globl prefix_sum
    .type prefix_sum, @function
prefix_sum:
    vpxor %xmm0, %xmm0, %xmm0       # the sum so far, in each element
    vpcmpeqd %ymm7, %ymm7, %ymm7
    vpsrld $29, %ymm7, %ymm7        # 7: the last element
    subq $16, %rdx
    jl .Leights
    .p2align 4
.Lturn:
    vmovdqu (%rdi), %ymm1
    vmovdqu 32(%rdi), %ymm4
    vpslldq $4, %ymm1, %ymm2
    vpslldq $4, %ymm4, %ymm5
    vpaddd %ymm2, %ymm1, %ymm1
    vpaddd %ymm5, %ymm4, %ymm4
    vpslldq $8, %ymm1, %ymm2
    vpslldq $8, %ymm4, %ymm5
    vpaddd %ymm2, %ymm1, %ymm1
    vpaddd %ymm5, %ymm4, %ymm4
    vpshufd $0xff, %ymm1, %ymm2
    vpshufd $0xff, %ymm4, %ymm5
    vperm2i128 $0x08, %ymm2, %ymm2, %ymm2
    vperm2i128 $0x08, %ymm5, %ymm5, %ymm5
    vpaddd %ymm2, %ymm1, %ymm1
    vpaddd %ymm5, %ymm4, %ymm4
    vpermd %ymm1, %ymm7, %ymm3
    vpermd %ymm4, %ymm7, %ymm6
    vpaddd %ymm0, %ymm1, %ymm1
    vpaddd %ymm3, %ymm0, %ymm0
    vpaddd %ymm0, %ymm4, %ymm4
    vpaddd %ymm6, %ymm0, %ymm0
    vmovdqu %ymm1, (%rsi)
    vmovdqu %ymm4, 32(%rsi)
    addq $64, %rdi
    addq $64, %rsi
    subq $16, %rdx
    jge .Lturn
.Leights:
    addq $8, %rdx
    jl .Lfew
    vmovdqu (%rdi), %ymm1
    vpslldq $4, %ymm1, %ymm2
    vpaddd %ymm2, %ymm1, %ymm1
    vpslldq $8, %ymm1, %ymm2
    vpaddd %ymm2, %ymm1, %ymm1
    vpshufd $0xff, %ymm1, %ymm2
    vperm2i128 $0x08, %ymm2, %ymm2, %ymm2
    vpaddd %ymm2, %ymm1, %ymm1
    vpermd %ymm1, %ymm7, %ymm3
    vpaddd %ymm0, %ymm1, %ymm1
    vpaddd %ymm3, %ymm0, %ymm0
    vmovdqu %ymm1, (%rsi)
    addq $32, %rdi
    addq $32, %rsi
    subq $8, %rdx
.Lfew:
    vmovd %xmm0, %eax
    addq $8, %rdx
    jz 2f
1:
    addl (%rdi), %eax
    movl %eax, (%rsi)
    addq $4, %rdi
    addq $4, %rsi
    decq %rdx
    jnz 1b
2:
    vzeroupper
    ret
    .size prefix_sum, .-prefix_sum
    .section .note.GNU-stack,"",@progbits
