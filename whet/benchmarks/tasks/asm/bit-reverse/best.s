# vpshufb turns the bytes of each word round, and then the two halves of each byte by a table of sixteen.
    .text
    .p2align 5
    .globl bit_reverse
    .type bit_reverse, @function
bit_reverse:
    vmovdqa .Lbytes(%rip), %ymm0
    vmovdqa .Lupper(%rip), %ymm1    # a lower half turned round, where an upper one is
    vmovdqa .Llower(%rip), %ymm2
    vmovdqa .Lhalf(%rip), %ymm3
    subq $16, %rdx
    jl .Leights
    .p2align 4
1:
    vmovdqu (%rdi), %ymm4
    vmovdqu 32(%rdi), %ymm5
    vpshufb %ymm0, %ymm4, %ymm4
    vpshufb %ymm0, %ymm5, %ymm5
    vpsrlw $4, %ymm4, %ymm6
    vpsrlw $4, %ymm5, %ymm7
    vpand %ymm3, %ymm4, %ymm4
    vpand %ymm3, %ymm5, %ymm5
    vpand %ymm3, %ymm6, %ymm6
    vpand %ymm3, %ymm7, %ymm7
    vpshufb %ymm4, %ymm1, %ymm4
    vpshufb %ymm5, %ymm1, %ymm5
    vpshufb %ymm6, %ymm2, %ymm6
    vpshufb %ymm7, %ymm2, %ymm7
    vpor %ymm6, %ymm4, %ymm4
    vpor %ymm7, %ymm5, %ymm5
    vmovdqu %ymm4, (%rsi)
    vmovdqu %ymm5, 32(%rsi)
    addq $64, %rdi
    addq $64, %rsi
    subq $16, %rdx
    jge 1b
.Leights:
    addq $8, %rdx
    jl .Lfew
    vmovdqu (%rdi), %ymm4
    vpshufb %ymm0, %ymm4, %ymm4
    vpsrlw $4, %ymm4, %ymm6
    vpand %ymm3, %ymm4, %ymm4
    vpand %ymm3, %ymm6, %ymm6
    vpshufb %ymm4, %ymm1, %ymm4
    vpshufb %ymm6, %ymm2, %ymm6
    vpor %ymm6, %ymm4, %ymm4
    vmovdqu %ymm4, (%rsi)
    addq $32, %rdi
    addq $32, %rsi
    subq $8, %rdx
.Lfew:
    addq $8, %rdx
    jz 2f
1:
    vmovd (%rdi), %xmm4
    vpshufb %xmm0, %xmm4, %xmm4
    vpsrlw $4, %xmm4, %xmm6
    vpand %xmm3, %xmm4, %xmm4
    vpand %xmm3, %xmm6, %xmm6
    vpshufb %xmm4, %xmm1, %xmm4
    vpshufb %xmm6, %xmm2, %xmm6
    vpor %xmm6, %xmm4, %xmm4
    vmovd %xmm4, (%rsi)
    addq $4, %rdi
    addq $4, %rsi
    decq %rdx
    jnz 1b
2:
    vzeroupper
    ret
    .size bit_reverse, .-bit_reverse
    .section .rodata
    .p2align 5
.Lbytes:
    .byte 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12
    .byte 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12
.Lupper:
    .byte 0, 128, 64, 192, 32, 160, 96, 224, 16, 144, 80, 208, 48, 176, 112, 240
    .byte 0, 128, 64, 192, 32, 160, 96, 224, 16, 144, 80, 208, 48, 176, 112, 240
.Llower:
    .byte 0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15
    .byte 0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15
.Lhalf:
    .byte 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15
    .byte 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15
    .section .note.GNU-stack,"",@progbits
