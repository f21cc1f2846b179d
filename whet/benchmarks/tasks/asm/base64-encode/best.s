# 24 bytes become 32 letters: vpshufb spreads each three bytes over four, two multiplications shift their groups of six
# bits into place, and what is added to make a letter of a group comes from a table of thirteen ranges.
    .text
    .p2align 5
    .globl base64_encode
    .type base64_encode, @function
base64_encode:
    movq %rdx, %r8                  # where the output begins
    subq $28, %rsi                  # a turn reads 28 bytes and uses 24
    jl .Lrest
    vmovdqa .Lspread(%rip), %ymm1
    vmovdqa .Lodd(%rip), %ymm2
    vmovdqa .Lodd_shift(%rip), %ymm3
    vmovdqa .Leven(%rip), %ymm4
    vmovdqa .Leven_shift(%rip), %ymm5
    vmovdqa .Lletters(%rip), %ymm6
    vmovdqa .Lcapitals(%rip), %ymm7
    vmovdqa .Loffsets(%rip), %ymm8
    vmovdqa .Lthirteen(%rip), %ymm9
    .p2align 4
1:
    vmovdqu (%rdi), %xmm0
    vinserti128 $1, 12(%rdi), %ymm0, %ymm0
    vpshufb %ymm1, %ymm0, %ymm0     # bytes 1 0 2 1 of each three
    vpand %ymm2, %ymm0, %ymm10
    vpand %ymm4, %ymm0, %ymm0
    vpmulhuw %ymm3, %ymm10, %ymm10
    vpmullw %ymm5, %ymm0, %ymm0
    vpor %ymm10, %ymm0, %ymm0       # groups of six bits
    vpsubusb %ymm6, %ymm0, %ymm11   # 0 for letters, else 1 to 12
    vpcmpgtb %ymm0, %ymm7, %ymm12   # capitals
    vpand %ymm9, %ymm12, %ymm12
    vpor %ymm12, %ymm11, %ymm11     # 13 for capitals
    vpshufb %ymm11, %ymm8, %ymm11
    vpaddb %ymm11, %ymm0, %ymm0
    vmovdqu %ymm0, (%rdx)
    addq $24, %rdi
    addq $32, %rdx
    subq $24, %rsi
    jge 1b
    vzeroupper
.Lrest:
    addq $25, %rsi                  # bytes left, less 3
    leaq .Lalphabet(%rip), %r9
    jl .Lpad
1:
    movzbl (%rdi), %eax
    movzbl 1(%rdi), %ecx
    movzbl 2(%rdi), %r10d
    shll $16, %eax
    shll $8, %ecx
    orl %ecx, %eax
    orl %r10d, %eax
    movl %eax, %ecx
    shrl $18, %ecx
    movzbl (%r9,%rcx), %ecx
    movb %cl, (%rdx)
    movl %eax, %ecx
    shrl $12, %ecx
    andl $63, %ecx
    movzbl (%r9,%rcx), %ecx
    movb %cl, 1(%rdx)
    movl %eax, %ecx
    shrl $6, %ecx
    andl $63, %ecx
    movzbl (%r9,%rcx), %ecx
    movb %cl, 2(%rdx)
    andl $63, %eax
    movzbl (%r9,%rax), %ecx
    movb %cl, 3(%rdx)
    addq $3, %rdi
    addq $4, %rdx
    subq $3, %rsi
    jge 1b
.Lpad:
    addq $3, %rsi
    jz 3f
    movzbl (%rdi), %eax
    movl %eax, %ecx
    shrl $2, %ecx
    movzbl (%r9,%rcx), %ecx
    movb %cl, (%rdx)
    andl $3, %eax
    shll $4, %eax
    movl $61, %r10d                 # =
    decq %rsi
    jz 2f
    movzbl 1(%rdi), %ecx
    movl %ecx, %r10d
    shrl $4, %ecx
    orl %ecx, %eax
    andl $15, %r10d
    movzbl (%r9,%r10,4), %r10d
2:
    movzbl (%r9,%rax), %ecx
    movb %cl, 1(%rdx)
    movb %r10b, 2(%rdx)
    movb $61, 3(%rdx)
    addq $4, %rdx
3:
    movq %rdx, %rax
    subq %r8, %rax
    ret
    .size base64_encode, .-base64_encode
    .section .rodata
    .p2align 5
.Lspread:
    .byte 1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10
    .byte 1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10
.Lodd:                              # the first and third group
    .long 0x0fc0fc00, 0x0fc0fc00, 0x0fc0fc00, 0x0fc0fc00, 0x0fc0fc00, 0x0fc0fc00, 0x0fc0fc00, 0x0fc0fc00
.Lodd_shift:                        # right by 10 and by 6
    .long 0x04000040, 0x04000040, 0x04000040, 0x04000040, 0x04000040, 0x04000040, 0x04000040, 0x04000040
.Leven:                             # the second and fourth
    .long 0x003f03f0, 0x003f03f0, 0x003f03f0, 0x003f03f0, 0x003f03f0, 0x003f03f0, 0x003f03f0, 0x003f03f0
.Leven_shift:                       # left by 4 and by 8
    .long 0x01000010, 0x01000010, 0x01000010, 0x01000010, 0x01000010, 0x01000010, 0x01000010, 0x01000010
.Lletters:
    .byte 51, 51, 51, 51, 51, 51, 51, 51, 51, 51, 51, 51, 51, 51, 51, 51
    .byte 51, 51, 51, 51, 51, 51, 51, 51, 51, 51, 51, 51, 51, 51, 51, 51
.Lcapitals:
    .byte 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26
    .byte 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26
.Lthirteen:
    .byte 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13
    .byte 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13
.Loffsets:
    .byte 71, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -19, -16, 65, 0, 0
    .byte 71, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -19, -16, 65, 0, 0
.Lalphabet:
    .ascii "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    .section .note.GNU-stack,"",@progbits
