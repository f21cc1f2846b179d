# A word can only begin where its first and its last byte stand at their distance: 32 places are asked at once, and
# only those that have both are compared. The last places are asked by a load that overlaps the ones before.
    .text
    .p2align 5
    .globl find_text
    .type find_text, @function
find_text:
    testq %rcx, %rcx
    jz .Lstart
    subq %rcx, %rsi
    jl .Lnone
    incq %rsi                       # places
    movzbl (%rdx), %eax
    vmovd %eax, %xmm0
    vpbroadcastb %xmm0, %ymm0
    movzbl -1(%rdx,%rcx), %eax
    vmovd %eax, %xmm1
    vpbroadcastb %xmm1, %ymm1
    leaq -1(%rdi,%rcx), %r8         # where the last byte of the first place is
    xorl %r9d, %r9d                 # place
    subq $32, %rsi
    jl .Lfew
    .p2align 4
.Lpair:                             # 64 places
    leaq 32(%r9), %rax
    cmpq %rsi, %rax
    jg .Lblock
    vpcmpeqb (%rdi,%r9), %ymm0, %ymm2
    vpcmpeqb (%r8,%r9), %ymm1, %ymm3
    vpcmpeqb 32(%rdi,%r9), %ymm0, %ymm4
    vpcmpeqb 32(%r8,%r9), %ymm1, %ymm5
    vpand %ymm3, %ymm2, %ymm2
    vpand %ymm5, %ymm4, %ymm4
    vpor %ymm4, %ymm2, %ymm3
    vptest %ymm3, %ymm3
    jnz .Lsome
    addq $64, %r9
    jmp .Lpair
.Lsome:
    vpmovmskb %ymm2, %r10d
    vpmovmskb %ymm4, %eax
    shlq $32, %rax
    orq %rax, %r10
    movl $64, %r11d
    jmp .Lplaces
.Lblock:                            # 32 places
    cmpq %rsi, %r9
    jle 1f
    leaq 32(%rsi), %rax
    cmpq %rax, %r9
    jge .Lnone
    movq %rsi, %r9
1:
    vpcmpeqb (%rdi,%r9), %ymm0, %ymm2
    vpcmpeqb (%r8,%r9), %ymm1, %ymm3
    vpand %ymm3, %ymm2, %ymm2
    vpmovmskb %ymm2, %r10d
    movl $32, %r11d
    testl %r10d, %r10d
    jz .Lnext
.Lplaces:
    tzcntq %r10, %rax
    addq %r9, %rax
    leaq (%rdi,%rax), %r8
    pushq %rsi
    movl $1, %esi
1:
    cmpq %rcx, %rsi
    jae .Lfound
    movb (%r8,%rsi), %al
    cmpb (%rdx,%rsi), %al
    jne 2f
    incq %rsi
    jmp 1b
.Lfound:
    popq %rsi
    movq %r8, %rax
    subq %rdi, %rax
    vzeroupper
    ret
2:
    popq %rsi
    blsrq %r10, %r10
    jnz .Lplaces
    leaq -1(%rdi,%rcx), %r8
.Lnext:
    addq %r11, %r9
    jmp .Lpair
.Lfew:                              # fewer than 32 places: byte by byte
    vzeroupper
    addq $32, %rsi
.Lplace:
    xorl %r8d, %r8d
    leaq (%rdi,%r9), %r10
1:
    movb (%r10,%r8), %al
    cmpb (%rdx,%r8), %al
    jne 2f
    incq %r8
    cmpq %rcx, %r8
    jb 1b
    movq %r9, %rax
    ret
2:
    incq %r9
    cmpq %rsi, %r9
    jb .Lplace
.Lnone:
    movq $-1, %rax
    vzeroupper
    ret
.Lstart:
    xorl %eax, %eax
    ret
    .size find_text, .-find_text
    .section .note.GNU-stack,"",@progbits
