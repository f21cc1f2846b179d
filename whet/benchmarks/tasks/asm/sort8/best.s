# Eight rows at once: turned into columns, each of which is one register, they go through a network of 19 exchanges by
# minimum and maximum, without a branch. The last eight rows overlap those before: sorting them again changes nothing.
    .text
    .p2align 5
    .globl sort_rows
    .type sort_rows, @function
sort_rows:
    cmpq $8, %rsi
    jb .Lfew
    movq %rsi, %rdx
    shlq $5, %rdx
    leaq -256(%rdi,%rdx), %rdx      # the last eight rows
    .p2align 4
.Leight:
    leaq 128(%rdi), %rcx
    vmovdqu 0(%rdi), %xmm0
    vmovdqu 16(%rdi), %xmm4
    vmovdqu 32(%rdi), %xmm1
    vmovdqu 48(%rdi), %xmm5
    vmovdqu 64(%rdi), %xmm2
    vmovdqu 80(%rdi), %xmm6
    vmovdqu 96(%rdi), %xmm3
    vmovdqu 112(%rdi), %xmm7
    vinserti128 $1, 0(%rcx), %ymm0, %ymm0
    vinserti128 $1, 16(%rcx), %ymm4, %ymm4
    vinserti128 $1, 32(%rcx), %ymm1, %ymm1
    vinserti128 $1, 48(%rcx), %ymm5, %ymm5
    vinserti128 $1, 64(%rcx), %ymm2, %ymm2
    vinserti128 $1, 80(%rcx), %ymm6, %ymm6
    vinserti128 $1, 96(%rcx), %ymm3, %ymm3
    vinserti128 $1, 112(%rcx), %ymm7, %ymm7
    # columns: rows 0 to 3 in the lower halves, 4 to 7 in the upper
    vpunpckldq %ymm1, %ymm0, %ymm8
    vpunpckhdq %ymm1, %ymm0, %ymm9
    vpunpckldq %ymm3, %ymm2, %ymm10
    vpunpckhdq %ymm3, %ymm2, %ymm11
    vpunpcklqdq %ymm10, %ymm8, %ymm0
    vpunpckhqdq %ymm10, %ymm8, %ymm1
    vpunpcklqdq %ymm11, %ymm9, %ymm2
    vpunpckhqdq %ymm11, %ymm9, %ymm3
    vpunpckldq %ymm5, %ymm4, %ymm12
    vpunpckhdq %ymm5, %ymm4, %ymm13
    vpunpckldq %ymm7, %ymm6, %ymm14
    vpunpckhdq %ymm7, %ymm6, %ymm15
    vpunpcklqdq %ymm14, %ymm12, %ymm4
    vpunpckhqdq %ymm14, %ymm12, %ymm5
    vpunpcklqdq %ymm15, %ymm13, %ymm6
    vpunpckhqdq %ymm15, %ymm13, %ymm7
    # 19 exchanges in six layers
    vpminsd %ymm2, %ymm0, %ymm8
    vpmaxsd %ymm2, %ymm0, %ymm2
    vpminsd %ymm3, %ymm1, %ymm9
    vpmaxsd %ymm3, %ymm1, %ymm3
    vpminsd %ymm6, %ymm4, %ymm10
    vpmaxsd %ymm6, %ymm4, %ymm6
    vpminsd %ymm7, %ymm5, %ymm11
    vpmaxsd %ymm7, %ymm5, %ymm7
    vpminsd %ymm10, %ymm8, %ymm12
    vpmaxsd %ymm10, %ymm8, %ymm10
    vpminsd %ymm11, %ymm9, %ymm13
    vpmaxsd %ymm11, %ymm9, %ymm11
    vpminsd %ymm6, %ymm2, %ymm14
    vpmaxsd %ymm6, %ymm2, %ymm6
    vpminsd %ymm7, %ymm3, %ymm15
    vpmaxsd %ymm7, %ymm3, %ymm7
    vpminsd %ymm13, %ymm12, %ymm0
    vpmaxsd %ymm13, %ymm12, %ymm13
    vpminsd %ymm15, %ymm14, %ymm1
    vpmaxsd %ymm15, %ymm14, %ymm15
    vpminsd %ymm11, %ymm10, %ymm4
    vpmaxsd %ymm11, %ymm10, %ymm11
    vpminsd %ymm7, %ymm6, %ymm5
    vpmaxsd %ymm7, %ymm6, %ymm7
    vpminsd %ymm4, %ymm1, %ymm8
    vpmaxsd %ymm4, %ymm1, %ymm4
    vpminsd %ymm11, %ymm15, %ymm9
    vpmaxsd %ymm11, %ymm15, %ymm11
    vpminsd %ymm4, %ymm13, %ymm2
    vpmaxsd %ymm4, %ymm13, %ymm4
    vpminsd %ymm5, %ymm9, %ymm3
    vpmaxsd %ymm5, %ymm9, %ymm5
    vpminsd %ymm8, %ymm2, %ymm12
    vpmaxsd %ymm8, %ymm2, %ymm8
    vpminsd %ymm4, %ymm3, %ymm14
    vpmaxsd %ymm4, %ymm3, %ymm4
    vpminsd %ymm5, %ymm11, %ymm10
    vpmaxsd %ymm5, %ymm11, %ymm5
    # rows again
    vpunpckldq %ymm12, %ymm0, %ymm6
    vpunpckhdq %ymm12, %ymm0, %ymm1
    vpunpckldq %ymm14, %ymm8, %ymm15
    vpunpckhdq %ymm14, %ymm8, %ymm13
    vpunpcklqdq %ymm15, %ymm6, %ymm0
    vpunpckhqdq %ymm15, %ymm6, %ymm12
    vpunpcklqdq %ymm13, %ymm1, %ymm8
    vpunpckhqdq %ymm13, %ymm1, %ymm14
    vpunpckldq %ymm10, %ymm4, %ymm9
    vpunpckhdq %ymm10, %ymm4, %ymm2
    vpunpckldq %ymm7, %ymm5, %ymm3
    vpunpckhdq %ymm7, %ymm5, %ymm11
    vpunpcklqdq %ymm3, %ymm9, %ymm4
    vpunpckhqdq %ymm3, %ymm9, %ymm10
    vpunpcklqdq %ymm11, %ymm2, %ymm5
    vpunpckhqdq %ymm11, %ymm2, %ymm7
    vmovdqu %xmm0, 0(%rdi)
    vmovdqu %xmm4, 16(%rdi)
    vmovdqu %xmm12, 32(%rdi)
    vmovdqu %xmm10, 48(%rdi)
    vmovdqu %xmm8, 64(%rdi)
    vmovdqu %xmm5, 80(%rdi)
    vmovdqu %xmm14, 96(%rdi)
    vmovdqu %xmm7, 112(%rdi)
    vextracti128 $1, %ymm0, 0(%rcx)
    vextracti128 $1, %ymm4, 16(%rcx)
    vextracti128 $1, %ymm12, 32(%rcx)
    vextracti128 $1, %ymm10, 48(%rcx)
    vextracti128 $1, %ymm8, 64(%rcx)
    vextracti128 $1, %ymm5, 80(%rcx)
    vextracti128 $1, %ymm14, 96(%rcx)
    vextracti128 $1, %ymm7, 112(%rcx)
    cmpq %rdx, %rdi
    jae 1f
    addq $256, %rdi
    cmpq %rdx, %rdi
    cmovaq %rdx, %rdi
    jmp .Leight
1:
    vzeroupper
    ret
.Lfew:                              # fewer than eight rows: by insertion
    testq %rsi, %rsi
    jz .Ldone
.Lrow:
    movl $1, %ecx
.Lvalue:
    movl (%rdi,%rcx,4), %eax
    movq %rcx, %rdx
1:
    movl -4(%rdi,%rdx,4), %r8d
    cmpl %eax, %r8d
    jle 2f
    movl %r8d, (%rdi,%rdx,4)
    decq %rdx
    jnz 1b
2:
    movl %eax, (%rdi,%rdx,4)
    incl %ecx
    cmpl $8, %ecx
    jne .Lvalue
    addq $32, %rdi
    decq %rsi
    jnz .Lrow
.Ldone:
    ret
    .size sort_rows, .-sort_rows
    .section .note.GNU-stack,"",@progbits
