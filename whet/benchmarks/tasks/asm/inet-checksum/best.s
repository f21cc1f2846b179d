# The sum of words does not care for their order in a longer one, so 32-bit parts are summed as the machine reads them,
# in four pairs of accumulators of 64 bits, and the bytes are swapped once at the end.
    .text
    .p2align 5
    .globl inet_checksum
    .type inet_checksum, @function
inet_checksum:
    xorl %eax, %eax
    cmpq $128, %rsi
    jb .Lwords
    movl $0xffffffff, %ecx
    vmovq %rcx, %xmm7
    vpbroadcastq %xmm7, %ymm7
    vpxor %xmm0, %xmm0, %xmm0
    vpxor %xmm1, %xmm1, %xmm1
    vpxor %xmm2, %xmm2, %xmm2
    vpxor %xmm3, %xmm3, %xmm3
    .p2align 4
.Lblock:
    vmovdqu (%rdi), %ymm8
    vmovdqu 32(%rdi), %ymm9
    vmovdqu 64(%rdi), %ymm10
    vmovdqu 96(%rdi), %ymm11
    vpsrlq $32, %ymm8, %ymm12
    vpsrlq $32, %ymm9, %ymm13
    vpsrlq $32, %ymm10, %ymm14
    vpsrlq $32, %ymm11, %ymm15
    vpand %ymm7, %ymm8, %ymm8
    vpand %ymm7, %ymm9, %ymm9
    vpand %ymm7, %ymm10, %ymm10
    vpand %ymm7, %ymm11, %ymm11
    vpaddq %ymm12, %ymm8, %ymm8
    vpaddq %ymm13, %ymm9, %ymm9
    vpaddq %ymm14, %ymm10, %ymm10
    vpaddq %ymm15, %ymm11, %ymm11
    vpaddq %ymm8, %ymm0, %ymm0
    vpaddq %ymm9, %ymm1, %ymm1
    vpaddq %ymm10, %ymm2, %ymm2
    vpaddq %ymm11, %ymm3, %ymm3
    subq $-128, %rdi
    addq $-128, %rsi
    cmpq $128, %rsi
    jae .Lblock
    vpaddq %ymm1, %ymm0, %ymm0
    vpaddq %ymm3, %ymm2, %ymm2
    vpaddq %ymm2, %ymm0, %ymm0
    vextracti128 $1, %ymm0, %xmm1
    vpaddq %xmm1, %xmm0, %xmm0
    vpshufd $0x4e, %xmm0, %xmm1
    vpaddq %xmm1, %xmm0, %xmm0
    vmovq %xmm0, %rax
    vzeroupper
.Lwords:
    subq $8, %rsi
    jb .Lrest
.Lword:
    addq (%rdi), %rax
    adcq $0, %rax
    addq $8, %rdi
    subq $8, %rsi
    jae .Lword
.Lrest:
    testb $4, %sil
    jz 1f
    movl (%rdi), %ecx
    addq $4, %rdi
    addq %rcx, %rax
    adcq $0, %rax
1:
    testb $2, %sil
    jz 1f
    movzwl (%rdi), %ecx
    addq $2, %rdi
    addq %rcx, %rax
    adcq $0, %rax
1:
    testb $1, %sil
    jz 1f
    movzbl (%rdi), %ecx
    addq %rcx, %rax
    adcq $0, %rax
1:
    movq %rax, %rcx
    shrq $32, %rcx
    addl %ecx, %eax
    adcl $0, %eax
    movl %eax, %ecx
    shrl $16, %ecx
    addw %cx, %ax
    adcw $0, %ax
    notl %eax
    rolw $8, %ax
    movzwl %ax, %eax
    ret
    .size inet_checksum, .-inet_checksum
    .section .note.GNU-stack,"",@progbits
