# Sums of 64 bytes at a time: vpsadbw adds them up, vpmaddubsw weighs each by how often it goes into b.
    .text
    .p2align 5
    .globl adler32
    .type adler32, @function
adler32:
    movl $1, %r8d                   # a
    xorl %r9d, %r9d                 # b
    movl $65521, %r10d
    cmpq $64, %rsi
    jb .Ltail
    vmovdqa .Lweights(%rip), %ymm4
    vmovdqa .Lweights+32(%rip), %ymm5
    vmovdqa .Lones(%rip), %ymm6
    vpxor %xmm7, %xmm7, %xmm7
.Lrun:
    movq %rsi, %rcx
    shrq $6, %rcx
    movl $86, %eax                  # 5504 bytes: no sum reaches 2^32
    cmpq %rax, %rcx
    cmovaq %rax, %rcx
    movl %ecx, %r11d
    shll $6, %r11d
    subq %r11, %rsi
    imull %r8d, %r11d               # each byte adds the earlier a to b
    addl %r11d, %r9d
    vpxor %xmm0, %xmm0, %xmm0       # sum of bytes
    vpxor %xmm1, %xmm1, %xmm1       # sum of the sums before each block
    vpxor %xmm2, %xmm2, %xmm2       # weighed bytes
    .p2align 4
.Lblock:
    vmovdqu (%rdi), %ymm8
    vmovdqu 32(%rdi), %ymm9
    vpaddd %ymm0, %ymm1, %ymm1
    vpsadbw %ymm7, %ymm8, %ymm10
    vpsadbw %ymm7, %ymm9, %ymm11
    vpmaddubsw %ymm4, %ymm8, %ymm8
    vpmaddubsw %ymm5, %ymm9, %ymm9
    vpaddd %ymm11, %ymm10, %ymm10
    vpaddd %ymm10, %ymm0, %ymm0
    vpmaddwd %ymm6, %ymm8, %ymm8
    vpmaddwd %ymm6, %ymm9, %ymm9
    vpaddd %ymm9, %ymm8, %ymm8
    vpaddd %ymm8, %ymm2, %ymm2
    addq $64, %rdi
    decl %ecx
    jnz .Lblock
    vpslld $6, %ymm1, %ymm1
    vpaddd %ymm1, %ymm2, %ymm2
    vextracti128 $1, %ymm0, %xmm8
    vextracti128 $1, %ymm2, %xmm9
    vpaddd %xmm8, %xmm0, %xmm0
    vpaddd %xmm9, %xmm2, %xmm2
    vpshufd $0x4e, %xmm0, %xmm8
    vpshufd $0x4e, %xmm2, %xmm9
    vpaddd %xmm8, %xmm0, %xmm0
    vpaddd %xmm9, %xmm2, %xmm2
    vpshufd $0xb1, %xmm2, %xmm9
    vpaddd %xmm9, %xmm2, %xmm2
    vmovd %xmm0, %eax
    addl %r8d, %eax
    xorl %edx, %edx
    divl %r10d
    movl %edx, %r8d
    vmovd %xmm2, %eax
    addl %r9d, %eax
    xorl %edx, %edx
    divl %r10d
    movl %edx, %r9d
    cmpq $64, %rsi
    jae .Lrun
    vzeroupper
.Ltail:
    testq %rsi, %rsi
    jz .Ldone
    addq %rdi, %rsi
.Lbyte:
    movzbl (%rdi), %eax
    incq %rdi
    addl %eax, %r8d
    addl %r8d, %r9d
    cmpq %rsi, %rdi
    jne .Lbyte
    movl %r8d, %eax
    xorl %edx, %edx
    divl %r10d
    movl %edx, %r8d
    movl %r9d, %eax
    xorl %edx, %edx
    divl %r10d
    movl %edx, %r9d
.Ldone:
    movl %r9d, %eax
    shll $16, %eax
    orl %r8d, %eax
    ret
    .size adler32, .-adler32
    .section .rodata
    .p2align 5
.Lweights:
    .byte 64,63,62,61,60,59,58,57,56,55,54,53,52,51,50,49,48,47,46,45,44,43,42,41,40,39,38,37,36,35,34,33
    .byte 32,31,30,29,28,27,26,25,24,23,22,21,20,19,18,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1
.Lones:
    .rept 16
    .short 1
    .endr
    .section .note.GNU-stack,"",@progbits
