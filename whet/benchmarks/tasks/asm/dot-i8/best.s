# No value is -128, so a product of magnitude and signed value stays within bounds, and vpmaddubsw may add them in pairs:
# the sign of a moves to b. A compiler cannot know of the bounds and widens each byte first.
    .text
    .p2align 5
    .globl dot_i8
    .type dot_i8, @function
dot_i8:
    vpxor %xmm0, %xmm0, %xmm0
    vpxor %xmm1, %xmm1, %xmm1
    vpcmpeqw %ymm7, %ymm7, %ymm7
    vpsrlw $15, %ymm7, %ymm7        # ones, to add pairs up
    subq $64, %rdx
    jl .Lhalf
    vpxor %xmm2, %xmm2, %xmm2
    vpxor %xmm3, %xmm3, %xmm3
    subq $64, %rdx
    jl .Lone
    .p2align 4
.Lturn:
    vmovdqu (%rdi), %ymm8
    vmovdqu 32(%rdi), %ymm9
    vmovdqu 64(%rdi), %ymm10
    vmovdqu 96(%rdi), %ymm11
    vmovdqu (%rsi), %ymm12
    vmovdqu 32(%rsi), %ymm13
    vmovdqu 64(%rsi), %ymm14
    vmovdqu 96(%rsi), %ymm15
    subq $-128, %rdi
    subq $-128, %rsi
    vpsignb %ymm8, %ymm12, %ymm12
    vpsignb %ymm9, %ymm13, %ymm13
    vpsignb %ymm10, %ymm14, %ymm14
    vpsignb %ymm11, %ymm15, %ymm15
    vpabsb %ymm8, %ymm8
    vpabsb %ymm9, %ymm9
    vpabsb %ymm10, %ymm10
    vpabsb %ymm11, %ymm11
    vpmaddubsw %ymm12, %ymm8, %ymm8
    vpmaddubsw %ymm13, %ymm9, %ymm9
    vpmaddubsw %ymm14, %ymm10, %ymm10
    vpmaddubsw %ymm15, %ymm11, %ymm11
    vpmaddwd %ymm7, %ymm8, %ymm8
    vpmaddwd %ymm7, %ymm9, %ymm9
    vpmaddwd %ymm7, %ymm10, %ymm10
    vpmaddwd %ymm7, %ymm11, %ymm11
    vpaddd %ymm8, %ymm0, %ymm0
    vpaddd %ymm9, %ymm1, %ymm1
    vpaddd %ymm10, %ymm2, %ymm2
    vpaddd %ymm11, %ymm3, %ymm3
    subq $128, %rdx
    jge .Lturn
.Lone:
    addq $64, %rdx
    vpaddd %ymm2, %ymm0, %ymm0
    vpaddd %ymm3, %ymm1, %ymm1
    vpaddd %ymm1, %ymm0, %ymm0
.Lhalf:
    addq $32, %rdx                  # bytes left, less 32
    jl .Lsum
1:
    vmovdqu (%rdi), %ymm8
    vmovdqu (%rsi), %ymm9
    vpsignb %ymm8, %ymm9, %ymm9
    vpabsb %ymm8, %ymm8
    vpmaddubsw %ymm9, %ymm8, %ymm8
    vpmaddwd %ymm7, %ymm8, %ymm8
    vpaddd %ymm8, %ymm0, %ymm0
    addq $32, %rdi
    addq $32, %rsi
    subq $32, %rdx
    jge 1b
.Lsum:
    vextracti128 $1, %ymm0, %xmm1
    vpaddd %xmm1, %xmm0, %xmm0
    addq $16, %rdx
    jl 1f
    vpmovsxbw (%rdi), %ymm8
    vpmovsxbw (%rsi), %ymm9
    vpmaddwd %ymm9, %ymm8, %ymm8
    vextracti128 $1, %ymm8, %xmm9
    vpaddd %xmm8, %xmm0, %xmm0
    vpaddd %xmm9, %xmm0, %xmm0
    addq $16, %rdi
    addq $16, %rsi
    subq $16, %rdx
1:
    vpshufd $0x4e, %xmm0, %xmm1
    vpaddd %xmm1, %xmm0, %xmm0
    vpshufd $0xb1, %xmm0, %xmm1
    vpaddd %xmm1, %xmm0, %xmm0
    vmovd %xmm0, %eax
    addq $16, %rdx
    jz 2f
1:
    movsbl (%rdi), %ecx
    movsbl (%rsi), %r8d
    incq %rdi
    incq %rsi
    imull %r8d, %ecx
    addl %ecx, %eax
    decq %rdx
    jnz 1b
2:
    vzeroupper
    ret
    .size dot_i8, .-dot_i8
    .section .note.GNU-stack,"",@progbits
