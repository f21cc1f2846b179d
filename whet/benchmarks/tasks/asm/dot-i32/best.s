# Eight products at once, in four accumulators, so that no addition waits for the one before.
    .text
    .p2align 5
    .globl dot_i32
    .type dot_i32, @function
dot_i32:
    vpxor %xmm0, %xmm0, %xmm0
    vpxor %xmm1, %xmm1, %xmm1
    vpxor %xmm2, %xmm2, %xmm2
    vpxor %xmm3, %xmm3, %xmm3
    subq $32, %rdx
    jl .Leights
    .p2align 4
.Lturn:
    vmovdqu (%rdi), %ymm4
    vmovdqu 32(%rdi), %ymm5
    vmovdqu 64(%rdi), %ymm6
    vmovdqu 96(%rdi), %ymm7
    vpmulld (%rsi), %ymm4, %ymm4
    vpmulld 32(%rsi), %ymm5, %ymm5
    vpmulld 64(%rsi), %ymm6, %ymm6
    vpmulld 96(%rsi), %ymm7, %ymm7
    subq $-128, %rdi
    subq $-128, %rsi
    vpaddd %ymm4, %ymm0, %ymm0
    vpaddd %ymm5, %ymm1, %ymm1
    vpaddd %ymm6, %ymm2, %ymm2
    vpaddd %ymm7, %ymm3, %ymm3
    subq $32, %rdx
    jge .Lturn
    vpaddd %ymm1, %ymm0, %ymm0
    vpaddd %ymm3, %ymm2, %ymm2
    vpaddd %ymm2, %ymm0, %ymm0
.Leights:
    addq $24, %rdx                  # elements left, less 8
    jl .Lfew
1:
    vmovdqu (%rdi), %ymm4
    vpmulld (%rsi), %ymm4, %ymm4
    addq $32, %rdi
    addq $32, %rsi
    vpaddd %ymm4, %ymm0, %ymm0
    subq $8, %rdx
    jge 1b
.Lfew:
    vextracti128 $1, %ymm0, %xmm1
    vpaddd %xmm1, %xmm0, %xmm0
    vpshufd $0x4e, %xmm0, %xmm1
    vpaddd %xmm1, %xmm0, %xmm0
    vpshufd $0xb1, %xmm0, %xmm1
    vpaddd %xmm1, %xmm0, %xmm0
    vmovd %xmm0, %eax
    addq $8, %rdx
    jz 2f
1:
    movl (%rdi), %ecx
    imull (%rsi), %ecx
    addq $4, %rdi
    addq $4, %rsi
    addl %ecx, %eax
    decq %rdx
    jnz 1b
2:
    vzeroupper
    ret
    .size dot_i32, .-dot_i32
    .section .note.GNU-stack,"",@progbits
