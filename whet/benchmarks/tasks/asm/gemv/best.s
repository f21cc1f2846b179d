# Four rows at a time, so that x is read a fourth as often; two sums of eight a row, so that no addition waits for the
# one before.
    .text
    .p2align 5
    .globl gemv
    .type gemv, @function
gemv:
    leaq (,%r8,4), %r9              # bytes of a row
    leaq (%r9,%r9,2), %rax          # of three
    subq $4, %rcx
    jl .Lrows
.Lfour:
    vxorps %xmm0, %xmm0, %xmm0
    vxorps %xmm1, %xmm1, %xmm1
    vxorps %xmm2, %xmm2, %xmm2
    vxorps %xmm3, %xmm3, %xmm3
    vxorps %xmm4, %xmm4, %xmm4
    vxorps %xmm5, %xmm5, %xmm5
    vxorps %xmm6, %xmm6, %xmm6
    vxorps %xmm7, %xmm7, %xmm7
    movq %rsi, %r11
    movq %r8, %r10
    subq $16, %r10
    jl .Leight
    .p2align 4
.Lturn:
    vmovups (%r11), %ymm8
    vmovups 32(%r11), %ymm9
    vfmadd231ps (%rdi), %ymm8, %ymm0
    vfmadd231ps (%rdi,%r9), %ymm8, %ymm1
    vfmadd231ps (%rdi,%r9,2), %ymm8, %ymm2
    vfmadd231ps (%rdi,%rax), %ymm8, %ymm3
    vfmadd231ps 32(%rdi), %ymm9, %ymm4
    vfmadd231ps 32(%rdi,%r9), %ymm9, %ymm5
    vfmadd231ps 32(%rdi,%r9,2), %ymm9, %ymm6
    vfmadd231ps 32(%rdi,%rax), %ymm9, %ymm7
    addq $64, %rdi
    addq $64, %r11
    subq $16, %r10
    jge .Lturn
    vaddps %ymm4, %ymm0, %ymm0
    vaddps %ymm5, %ymm1, %ymm1
    vaddps %ymm6, %ymm2, %ymm2
    vaddps %ymm7, %ymm3, %ymm3
.Leight:
    addq $8, %r10                   # columns left, less 8
    jl .Lsums
    vmovups (%r11), %ymm8
    vfmadd231ps (%rdi), %ymm8, %ymm0
    vfmadd231ps (%rdi,%r9), %ymm8, %ymm1
    vfmadd231ps (%rdi,%r9,2), %ymm8, %ymm2
    vfmadd231ps (%rdi,%rax), %ymm8, %ymm3
    addq $32, %rdi
    addq $32, %r11
    subq $8, %r10
.Lsums:                             # of the four rows, side by side
    vhaddps %ymm1, %ymm0, %ymm0
    vhaddps %ymm3, %ymm2, %ymm2
    vhaddps %ymm2, %ymm0, %ymm0
    vextractf128 $1, %ymm0, %xmm1
    vaddps %xmm1, %xmm0, %xmm0
    addq $8, %r10
    jz .Lstore
1:
    vmovss (%rdi), %xmm1
    vinsertps $0x10, (%rdi,%r9), %xmm1, %xmm1
    vinsertps $0x20, (%rdi,%r9,2), %xmm1, %xmm1
    vinsertps $0x30, (%rdi,%rax), %xmm1, %xmm1
    vbroadcastss (%r11), %xmm2
    vfmadd231ps %xmm2, %xmm1, %xmm0
    addq $4, %rdi
    addq $4, %r11
    decq %r10
    jnz 1b
.Lstore:
    vmovups %xmm0, (%rdx)
    addq $16, %rdx
    addq %rax, %rdi
    subq $4, %rcx
    jge .Lfour
.Lrows:
    addq $4, %rcx
    jz .Ldone
.Lrow:
    vxorps %xmm0, %xmm0, %xmm0
    movq %rsi, %r11
    movq %r8, %r10
    subq $8, %r10
    jl 2f
1:
    vmovups (%r11), %ymm8
    vfmadd231ps (%rdi), %ymm8, %ymm0
    addq $32, %rdi
    addq $32, %r11
    subq $8, %r10
    jge 1b
2:
    vextractf128 $1, %ymm0, %xmm1
    vaddps %xmm1, %xmm0, %xmm0
    vmovhlps %xmm0, %xmm0, %xmm1
    vaddps %xmm1, %xmm0, %xmm0
    vmovshdup %xmm0, %xmm1
    vaddss %xmm1, %xmm0, %xmm0
    addq $8, %r10
    jz 4f
3:
    vmovss (%rdi), %xmm1
    vfmadd231ss (%r11), %xmm1, %xmm0
    addq $4, %rdi
    addq $4, %r11
    decq %r10
    jnz 3b
4:
    vmovss %xmm0, (%rdx)
    addq $4, %rdx
    decq %rcx
    jnz .Lrow
.Ldone:
    vzeroupper
    ret
    .size gemv, .-gemv
    .section .note.GNU-stack,"",@progbits
