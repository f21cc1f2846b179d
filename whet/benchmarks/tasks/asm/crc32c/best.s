# The crc32 instruction takes three cycles and can begin in each: three parts of 512 bytes run side by side. Appending
# zeros multiplies a remainder by a power of x, so two carry-less products move the first two remainders to the end.
    .text
    .p2align 5
    .globl crc32c
    .type crc32c, @function
crc32c:
    movl $0xffffffff, %eax
    cmpq $1536, %rsi
    jb .Lwords
    movl $0x170076fa, %ecx          # x^(8 * 1024 - 33)
    movq %rcx, %xmm0
    movl $0xdd7e3b0c, %ecx          # x^(8 * 512 - 33)
    movq %rcx, %xmm1
.Lparts:
    xorl %ecx, %ecx
    xorl %edx, %edx
    movl $64, %r8d
    .p2align 4
1:
    crc32q (%rdi), %rax
    crc32q 512(%rdi), %rcx
    crc32q 1024(%rdi), %rdx
    addq $8, %rdi
    decl %r8d
    jnz 1b
    movq %rax, %xmm2
    movq %rcx, %xmm3
    pclmulqdq $0, %xmm0, %xmm2
    pclmulqdq $0, %xmm1, %xmm3
    pxor %xmm3, %xmm2
    movq %xmm2, %r8
    xorl %eax, %eax
    crc32q %r8, %rax
    xorl %edx, %eax
    addq $1024, %rdi
    subq $1536, %rsi
    cmpq $1536, %rsi
    jae .Lparts
.Lwords:
    subq $8, %rsi
    jb .Lrest
1:
    crc32q (%rdi), %rax
    addq $8, %rdi
    subq $8, %rsi
    jae 1b
.Lrest:
    testb $4, %sil
    jz 1f
    crc32l (%rdi), %eax
    addq $4, %rdi
1:
    testb $2, %sil
    jz 1f
    crc32w (%rdi), %eax
    addq $2, %rdi
1:
    testb $1, %sil
    jz 1f
    crc32b (%rdi), %eax
1:
    notl %eax
    ret
    .size crc32c, .-crc32c
    .section .note.GNU-stack,"",@progbits
