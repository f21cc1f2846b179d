# A byte that is k places from the end counts 31^k times, so 32 sums of every 32nd byte can run side by side, each
# multiplied by 31^32 a turn; their own powers of 31 come at the end. The odd bytes go first, so the turns are whole.
    .text
    .p2align 5
    .globl string_hash
    .type string_hash, @function
string_hash:
    xorl %eax, %eax
    movq %rsi, %rcx
    andl $31, %ecx
    jz 2f
    subq %rcx, %rsi
1:
    movzbl (%rdi), %edx
    imull $31, %eax, %eax
    incq %rdi
    addl %edx, %eax
    decl %ecx
    jnz 1b
2:
    testq %rsi, %rsi
    jz 3f
    vmovd %eax, %xmm3               # the hash so far stands before the last of the 32: it counts 31^0 times
    vpslldq $12, %xmm3, %xmm3
    vpxor %xmm0, %xmm0, %xmm0
    vpxor %xmm1, %xmm1, %xmm1
    vpxor %xmm2, %xmm2, %xmm2
    vinserti128 $1, %xmm3, %ymm0, %ymm3
    movl $2111290369, %ecx
    vmovd %ecx, %xmm7
    vpbroadcastd %xmm7, %ymm7
    .p2align 4
1:
    vpmovzxbd (%rdi), %ymm8
    vpmovzxbd 8(%rdi), %ymm9
    vpmovzxbd 16(%rdi), %ymm10
    vpmovzxbd 24(%rdi), %ymm11
    vpmulld %ymm7, %ymm0, %ymm0
    vpmulld %ymm7, %ymm1, %ymm1
    vpmulld %ymm7, %ymm2, %ymm2
    vpmulld %ymm7, %ymm3, %ymm3
    vpaddd %ymm8, %ymm0, %ymm0
    vpaddd %ymm9, %ymm1, %ymm1
    vpaddd %ymm10, %ymm2, %ymm2
    vpaddd %ymm11, %ymm3, %ymm3
    addq $32, %rdi
    subq $32, %rsi
    jnz 1b
    vpmulld .Lpowers(%rip), %ymm0, %ymm0
    vpmulld .Lpowers+32(%rip), %ymm1, %ymm1
    vpmulld .Lpowers+64(%rip), %ymm2, %ymm2
    vpmulld .Lpowers+96(%rip), %ymm3, %ymm3
    vpaddd %ymm1, %ymm0, %ymm0
    vpaddd %ymm3, %ymm2, %ymm2
    vpaddd %ymm2, %ymm0, %ymm0
    vextracti128 $1, %ymm0, %xmm1
    vpaddd %xmm1, %xmm0, %xmm0
    vpshufd $0x4e, %xmm0, %xmm1
    vpaddd %xmm1, %xmm0, %xmm0
    vpshufd $0xb1, %xmm0, %xmm1
    vpaddd %xmm1, %xmm0, %xmm0
    vmovd %xmm0, %eax
    vzeroupper
3:
    ret
    .size string_hash, .-string_hash
    .section .rodata
    .p2align 5
.Lpowers:                           # 31^31 to 31^0
    .long 2284863455, 350799937, 11316127, 693101697, 4040230751, 961614017, 31019807, 2217757953
    .long 4227960543, 1244764481, 2256911007, 211350913, 3886143071, 3450495425, 3297894943, 1353309697
    .long 3784433119, 1507551809, 3789408671, 4001564289, 129082719, 2498015937, 4098453791, 2487512833
    .long 1742810335, 887503681, 28629151, 923521, 29791, 961, 31, 1
    .section .note.GNU-stack,"",@progbits
