# Each fault but one shows in the twelve bits of a byte and the upper half of the next: three tables give the faults
# that each four bits allow, and a fault is what all three allow. The one left, whether a byte must be the third or fourth
# of its character, is the bit for two bytes inside a character, and is right where a byte two or three before asks for it.
# Blocks of plain ASCII only ask whether the one before ended inside a character. The end is filled up with zeros.
    .text
    .p2align 5
    .globl utf8_valid
    .type utf8_valid, @function
utf8_valid:
    vpxor %xmm1, %xmm1, %xmm1       # the block before
    vpxor %xmm2, %xmm2, %xmm2       # faults
    vmovdqa .Lhalf(%rip), %ymm3
    vmovdqa .Lfirst_upper(%rip), %ymm4
    vmovdqa .Lfirst_lower(%rip), %ymm5
    vmovdqa .Lsecond_upper(%rip), %ymm6
    vmovdqa .Lof_three(%rip), %ymm7
    vmovdqa .Lof_four(%rip), %ymm8
    vmovdqa .Ltop(%rip), %ymm9
    xorl %ecx, %ecx                 # 1: the last block
    subq $32, %rsi
    jb .Lend
    .p2align 4
.Lblock:
    vmovdqu (%rdi), %ymm0
    addq $32, %rdi
.Llook:
    vpmovmskb %ymm0, %eax
    testl %eax, %eax
    jz .Lplain
    vperm2i128 $0x21, %ymm0, %ymm1, %ymm1
    vpalignr $15, %ymm1, %ymm0, %ymm10      # each byte's first, second and third before it
    vpalignr $14, %ymm1, %ymm0, %ymm11
    vpalignr $13, %ymm1, %ymm0, %ymm12
    vpsrlw $4, %ymm10, %ymm13
    vpsrlw $4, %ymm0, %ymm14
    vpand %ymm3, %ymm10, %ymm10
    vpand %ymm3, %ymm13, %ymm13
    vpand %ymm3, %ymm14, %ymm14
    vpshufb %ymm10, %ymm5, %ymm10
    vpshufb %ymm13, %ymm4, %ymm13
    vpshufb %ymm14, %ymm6, %ymm14
    vpsubusb %ymm7, %ymm11, %ymm11
    vpsubusb %ymm8, %ymm12, %ymm12
    vpand %ymm13, %ymm10, %ymm10
    vpand %ymm14, %ymm10, %ymm10
    vpor %ymm12, %ymm11, %ymm11
    vpand %ymm9, %ymm11, %ymm11
    vpxor %ymm11, %ymm10, %ymm10
    vpor %ymm10, %ymm2, %ymm2
    vmovdqa %ymm0, %ymm1
    subq $32, %rsi
    jae .Lblock
    jmp .Lend
.Lplain:
    vpsubusb .Lopen(%rip), %ymm1, %ymm10
    vpor %ymm10, %ymm2, %ymm2
    vmovdqa %ymm0, %ymm1
    subq $32, %rsi
    jae .Lblock
.Lend:
    testl %ecx, %ecx
    jnz .Lverdict
    incl %ecx
    vpxor %xmm0, %xmm0, %xmm0
    vmovdqu %ymm0, -32(%rsp)
    addq $32, %rsi
    jz .Llook
    leaq -32(%rsp), %rdx
1:
    movzbl (%rdi), %eax
    incq %rdi
    movb %al, (%rdx)
    incq %rdx
    decq %rsi
    jnz 1b
    vmovdqu -32(%rsp), %ymm0
    jmp .Llook
.Lverdict:
    xorl %eax, %eax
    vptest %ymm2, %ymm2
    setz %al
    vzeroupper
    ret
    .size utf8_valid, .-utf8_valid
    .section .rodata
    .p2align 5
.Lhalf:
    .byte 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15
    .byte 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15
.Lfirst_upper:
    .byte 2, 2, 2, 2, 2, 2, 2, 2, 128, 128, 128, 128, 33, 1, 21, 73
    .byte 2, 2, 2, 2, 2, 2, 2, 2, 128, 128, 128, 128, 33, 1, 21, 73
.Lfirst_lower:
    .byte 231, 163, 131, 131, 139, 203, 203, 203, 203, 203, 203, 203, 203, 219, 203, 203
    .byte 231, 163, 131, 131, 139, 203, 203, 203, 203, 203, 203, 203, 203, 219, 203, 203
.Lsecond_upper:
    .byte 1, 1, 1, 1, 1, 1, 1, 1, 230, 174, 186, 186, 1, 1, 1, 1
    .byte 1, 1, 1, 1, 1, 1, 1, 1, 230, 174, 186, 186, 1, 1, 1, 1
.Lof_three:                         # leaves the top bit of 0xe0 and above
    .byte 96, 96, 96, 96, 96, 96, 96, 96, 96, 96, 96, 96, 96, 96, 96, 96
    .byte 96, 96, 96, 96, 96, 96, 96, 96, 96, 96, 96, 96, 96, 96, 96, 96
.Lof_four:                          # of 0xf0 and above
    .byte 112, 112, 112, 112, 112, 112, 112, 112, 112, 112, 112, 112, 112, 112, 112, 112
    .byte 112, 112, 112, 112, 112, 112, 112, 112, 112, 112, 112, 112, 112, 112, 112, 112
.Ltop:
    .byte 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128
    .byte 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128
.Lopen:                             # what may end a block without asking for more
    .byte 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255
    .byte 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 239, 223, 191
    .section .note.GNU-stack,"",@progbits
