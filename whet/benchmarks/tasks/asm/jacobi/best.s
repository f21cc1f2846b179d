# All points from the second row on are taken in one run, those at the edges of rows too, which are set right afterwards:
# no row has a rest of its own. Four sums keep the order of the reference, and a quarter of them is exact.
    .text
    .p2align 5
    .globl jacobi
    .type jacobi, @function
jacobi:
    cmpq $3, %rcx
    jl .Lborder
    cmpq $3, %r8
    jl .Lborder
    leaq -1(%rcx), %r10
    imulq %r8, %r10                 # points before the last row
    leaq (%rdi,%r10,4), %r9
    leaq (%rdx,%r10,4), %rax
    movq %r8, %r11                  # the first and the last row, from their ends
    subq $8, %r11
    jl 2f
1:
    vmovups (%rdi,%r11,4), %ymm0
    vmovups (%r9,%r11,4), %ymm1
    vmovups %ymm0, (%rdx,%r11,4)
    vmovups %ymm1, (%rax,%r11,4)
    subq $8, %r11
    jge 1b
2:
    addq $8, %r11
    jz .Linner
3:
    vmovss -4(%rdi,%r11,4), %xmm0
    vmovss -4(%r9,%r11,4), %xmm1
    vmovss %xmm0, -4(%rdx,%r11,4)
    vmovss %xmm1, -4(%rax,%r11,4)
    decq %r11
    jnz 3b
.Linner:
    movl $0x3e800000, %r11d         # a quarter
    vmovd %r11d, %xmm7
    vbroadcastss %xmm7, %ymm7
    movq %rdi, %r9
    movq %rdx, %rax
    subq %r8, %r10
    subq $16, %r10
    jl .Leight
    .p2align 4
.Lturn:                             # rdi is at the neighbours above
    vmovups (%rdi), %ymm0
    vmovups 32(%rdi), %ymm1
    vmovups (%rsi,%r8,4), %ymm2
    vmovups 32(%rsi,%r8,4), %ymm3
    vaddps (%rdi,%r8,8), %ymm0, %ymm0
    vaddps 32(%rdi,%r8,8), %ymm1, %ymm1
    vaddps -4(%rdi,%r8,4), %ymm0, %ymm0
    vaddps 28(%rdi,%r8,4), %ymm1, %ymm1
    vaddps 4(%rdi,%r8,4), %ymm0, %ymm0
    vaddps 36(%rdi,%r8,4), %ymm1, %ymm1
    vfmadd231ps %ymm0, %ymm7, %ymm2
    vfmadd231ps %ymm1, %ymm7, %ymm3
    vmovups %ymm2, (%rdx,%r8,4)
    vmovups %ymm3, 32(%rdx,%r8,4)
    addq $64, %rdi
    addq $64, %rsi
    addq $64, %rdx
    subq $16, %r10
    jge .Lturn
.Leight:
    addq $8, %r10                   # points left, less 8
    jl .Lfew
    vmovups (%rdi), %ymm0
    vmovups (%rsi,%r8,4), %ymm2
    vaddps (%rdi,%r8,8), %ymm0, %ymm0
    vaddps -4(%rdi,%r8,4), %ymm0, %ymm0
    vaddps 4(%rdi,%r8,4), %ymm0, %ymm0
    vfmadd231ps %ymm0, %ymm7, %ymm2
    vmovups %ymm2, (%rdx,%r8,4)
    addq $32, %rdi
    addq $32, %rsi
    addq $32, %rdx
    subq $8, %r10
.Lfew:
    addq $8, %r10
    jz .Ledges
1:
    vmovss (%rdi), %xmm0
    vmovss (%rsi,%r8,4), %xmm2
    vaddss (%rdi,%r8,8), %xmm0, %xmm0
    vaddss -4(%rdi,%r8,4), %xmm0, %xmm0
    vaddss 4(%rdi,%r8,4), %xmm0, %xmm0
    vfmadd231ss %xmm0, %xmm7, %xmm2
    vmovss %xmm2, (%rdx,%r8,4)
    addq $4, %rdi
    addq $4, %rsi
    addq $4, %rdx
    decq %r10
    jnz 1b
.Ledges:
    subq $2, %rcx
1:
    leaq (%r9,%r8,4), %r9
    leaq (%rax,%r8,4), %rax
    vmovss (%r9), %xmm0
    vmovss -4(%r9,%r8,4), %xmm1
    vmovss %xmm0, (%rax)
    vmovss %xmm1, -4(%rax,%r8,4)
    decq %rcx
    jnz 1b
    vzeroupper
    ret
.Lborder:                           # there is nothing else
    imulq %rcx, %r8
    testq %r8, %r8
    jz 2f
1:
    vmovss -4(%rdi,%r8,4), %xmm0
    vmovss %xmm0, -4(%rdx,%r8,4)
    decq %r8
    jnz 1b
2:
    ret
    .size jacobi, .-jacobi
    .section .note.GNU-stack,"",@progbits
