# 32 elements a turn; product and sum are rounded apart, as in the reference.
    .text
    .p2align 5
    .globl saxpy
    .type saxpy, @function
saxpy:
    vbroadcastss %xmm0, %ymm0
    subq $32, %rdx
    jl .Leights
    .p2align 4
.Lturn:
    vmulps (%rdi), %ymm0, %ymm1
    vmulps 32(%rdi), %ymm0, %ymm2
    vmulps 64(%rdi), %ymm0, %ymm3
    vmulps 96(%rdi), %ymm0, %ymm4
    vaddps (%rsi), %ymm1, %ymm1
    vaddps 32(%rsi), %ymm2, %ymm2
    vaddps 64(%rsi), %ymm3, %ymm3
    vaddps 96(%rsi), %ymm4, %ymm4
    vmovups %ymm1, (%rsi)
    vmovups %ymm2, 32(%rsi)
    vmovups %ymm3, 64(%rsi)
    vmovups %ymm4, 96(%rsi)
    subq $-128, %rdi
    subq $-128, %rsi
    subq $32, %rdx
    jge .Lturn
.Leights:
    addq $24, %rdx
    jl .Lfew
1:
    vmulps (%rdi), %ymm0, %ymm1
    vaddps (%rsi), %ymm1, %ymm1
    vmovups %ymm1, (%rsi)
    addq $32, %rdi
    addq $32, %rsi
    subq $8, %rdx
    jge 1b
.Lfew:
    addq $8, %rdx
    jz 2f
1:
    vmulss (%rdi), %xmm0, %xmm1
    vaddss (%rsi), %xmm1, %xmm1
    vmovss %xmm1, (%rsi)
    addq $4, %rdi
    addq $4, %rsi
    decq %rdx
    jnz 1b
2:
    vzeroupper
    ret
    .size saxpy, .-saxpy
    .section .note.GNU-stack,"",@progbits
