# 128 bytes a turn, one branch for all; the ends are met by loads that overlap what was looked at already.
    .text
    .p2align 5
    .globl find_byte
    .type find_byte, @function
find_byte:
    vmovd %edx, %xmm0
    cmpq $16, %rsi
    jb .Lfew
    cmpq $32, %rsi
    jb .Lsome
    vpbroadcastb %xmm0, %ymm0
    vpcmpeqb (%rdi), %ymm0, %ymm1
    vpmovmskb %ymm1, %eax
    testl %eax, %eax
    jnz .Lfirst
    leaq (%rdi,%rsi), %r8           # end
    leaq 32(%rdi), %rdx
    andq $-32, %rdx
    leaq -128(%r8), %r9             # the last place of a whole turn
    cmpq %r9, %rdx
    ja .Lsingles
    .p2align 4
.Lturn:
    vpcmpeqb (%rdx), %ymm0, %ymm1
    vpcmpeqb 32(%rdx), %ymm0, %ymm2
    vpcmpeqb 64(%rdx), %ymm0, %ymm3
    vpcmpeqb 96(%rdx), %ymm0, %ymm4
    vpor %ymm1, %ymm2, %ymm5
    vpor %ymm3, %ymm4, %ymm6
    vpor %ymm5, %ymm6, %ymm6
    vpmovmskb %ymm6, %eax
    testl %eax, %eax
    jnz .Lwhich
    subq $-128, %rdx
    cmpq %r9, %rdx
    jbe .Lturn
.Lsingles:
    leaq -32(%r8), %r9
1:
    cmpq %r9, %rdx
    jae .Llast
    vpcmpeqb (%rdx), %ymm0, %ymm1
    vpmovmskb %ymm1, %eax
    testl %eax, %eax
    jnz .Lhere
    addq $32, %rdx
    jmp 1b
.Llast:
    vpcmpeqb (%r9), %ymm0, %ymm1
    vpmovmskb %ymm1, %eax
    movq %r9, %rdx
    testl %eax, %eax
    jnz .Lhere
    movq $-1, %rax
    vzeroupper
    ret
.Lwhich:
    vpmovmskb %ymm1, %eax
    testl %eax, %eax
    jnz .Lhere
    addq $32, %rdx
    vpmovmskb %ymm2, %eax
    testl %eax, %eax
    jnz .Lhere
    addq $32, %rdx
    vpmovmskb %ymm3, %eax
    testl %eax, %eax
    jnz .Lhere
    addq $32, %rdx
    vpmovmskb %ymm4, %eax
.Lhere:
    tzcntl %eax, %eax
    subq %rdi, %rdx
    addq %rdx, %rax
    vzeroupper
    ret
.Lfirst:
    tzcntl %eax, %eax
    vzeroupper
    ret
.Lsome:                             # 16 to 31 bytes
    vpbroadcastb %xmm0, %xmm0
    vpcmpeqb (%rdi), %xmm0, %xmm1
    vpmovmskb %xmm1, %eax
    vpcmpeqb -16(%rdi,%rsi), %xmm0, %xmm2
    vpmovmskb %xmm2, %ecx
    testl %eax, %eax
    jnz .Lfirst
    testl %ecx, %ecx
    jz .Lnone
    tzcntl %ecx, %eax
    leaq -16(%rax,%rsi), %rax
    ret
.Lfew:                              # fewer than 16
    cmpq $8, %rsi
    jb .Lbytes
    vpbroadcastb %xmm0, %xmm0
    vmovq (%rdi), %xmm1
    vmovhps -8(%rdi,%rsi), %xmm1, %xmm1
    vpcmpeqb %xmm1, %xmm0, %xmm1
    vpmovmskb %xmm1, %ecx
    testl %ecx, %ecx
    jz .Lnone
    tzcntl %ecx, %eax
    leaq -16(%rax,%rsi), %rcx       # where the upper half begins at n - 8
    cmpl $8, %eax
    cmovae %rcx, %rax
    ret
.Lbytes:
    xorl %eax, %eax
1:
    cmpq %rsi, %rax
    jae .Lnone
    cmpb %dl, (%rdi,%rax)
    je 2f
    incq %rax
    jmp 1b
.Lnone:
    movq $-1, %rax
2:
    ret
    .size find_byte, .-find_byte
    .section .note.GNU-stack,"",@progbits
