# The ends of the numbers in 64 bytes become bits of one word, so that finding the next number waits for a cleared bit and
# not for a load or a branch; pext packs the groups of seven. 32 small numbers are widened at once. Blocks that hold a
# number of nine bytes or more, and the last bytes, go number by number.
    .text
    .p2align 5
    .globl varint_decode
    .type varint_decode, @function
varint_decode:
    movq %rdx, -8(%rsp)
    leaq (%rdi,%rsi), %r9           # end
    movabsq $0x7f7f7f7f7f7f7f7f, %r10
.Lblock:
    leaq 72(%rdi), %rax             # a number that begins in the block is read as eight bytes
    cmpq %r9, %rax
    ja .Lsingle
    vmovdqu (%rdi), %ymm0
    vpmovmskb %ymm0, %ecx
    testl %ecx, %ecx
    jz .Lsmall
    vmovdqu 32(%rdi), %ymm1
    vpmovmskb %ymm1, %eax
    shlq $32, %rax
    orq %rax, %rcx                  # bytes that another one follows
    movq %rcx, %rax
    shrq $1, %rax
    andq %rcx, %rax
    movq %rax, %r8
    shrq $2, %r8
    andq %r8, %rax
    movq %rax, %r8
    shrq $4, %r8
    testq %r8, %rax                 # eight of them in a row
    jnz .Lsingle
    notq %rcx                       # ends
    movq %rdi, %r11
    lzcntq %rcx, %rax
    addq $64, %rdi
    subq %rax, %rdi                 # behind the last number of the block
    movq $-1, %rsi                  # the end before
    .p2align 4
.Lpair:
    tzcntq %rcx, %rax
    movl %eax, %r8d
    subl %esi, %r8d
    movq 1(%r11,%rsi), %rsi
    shll $3, %r8d
    bzhiq %r8, %r10, %r8
    pextq %r8, %rsi, %rsi
    movq %rsi, (%rdx)
    blsrq %rcx, %rcx
    jz .Lodd
    tzcntq %rcx, %rsi
    movl %esi, %r8d
    subl %eax, %r8d
    movq 1(%r11,%rax), %rax
    shll $3, %r8d
    bzhiq %r8, %r10, %r8
    pextq %r8, %rax, %rax
    movq %rax, 8(%rdx)
    addq $16, %rdx
    blsrq %rcx, %rcx
    jnz .Lpair
    jmp .Lblock
.Lodd:
    addq $8, %rdx
    jmp .Lblock
.Lsmall:
    vpmovzxbq (%rdi), %ymm0
    vpmovzxbq 4(%rdi), %ymm1
    vpmovzxbq 8(%rdi), %ymm2
    vpmovzxbq 12(%rdi), %ymm3
    vpmovzxbq 16(%rdi), %ymm4
    vpmovzxbq 20(%rdi), %ymm5
    vpmovzxbq 24(%rdi), %ymm6
    vpmovzxbq 28(%rdi), %ymm7
    vmovdqu %ymm0, (%rdx)
    vmovdqu %ymm1, 32(%rdx)
    vmovdqu %ymm2, 64(%rdx)
    vmovdqu %ymm3, 96(%rdx)
    vmovdqu %ymm4, 128(%rdx)
    vmovdqu %ymm5, 160(%rdx)
    vmovdqu %ymm6, 192(%rdx)
    vmovdqu %ymm7, 224(%rdx)
    addq $32, %rdi
    addq $256, %rdx
    jmp .Lblock
.Lsingle:                           # one number, byte by byte
    xorl %eax, %eax
    xorl %ecx, %ecx
1:
    cmpq %r9, %rdi
    je .Ldone
    movzbl (%rdi), %r11d
    incq %rdi
    movl %r11d, %r8d
    andl $0x7f, %r8d
    cmpl $64, %ecx
    jae 2f
    shlxq %rcx, %r8, %r8
    orq %r8, %rax
2:
    addl $7, %ecx
    testb %r11b, %r11b
    js 1b
    movq %rax, (%rdx)
    addq $8, %rdx
    jmp .Lblock
.Ldone:
    movq %rdx, %rax
    subq -8(%rsp), %rax
    shrq $3, %rax
    vzeroupper
    ret
    .size varint_decode, .-varint_decode
    .section .note.GNU-stack,"",@progbits
