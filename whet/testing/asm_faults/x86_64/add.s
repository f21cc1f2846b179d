    .text
    .globl add
    .type add, @function
add:
    xor %eax, %eax
    lea -4(%rcx), %r8
    cmp %r8, %rax
    jg 2f
1:  movdqu (%rsi,%rax,4), %xmm0
    movdqu (%rdx,%rax,4), %xmm1
    paddd %xmm1, %xmm0
    movdqu %xmm0, (%rdi,%rax,4)
    add $4, %rax
    cmp %r8, %rax
    jle 1b
2:  cmp %rcx, %rax
    jge 4f
3:  mov (%rsi,%rax,4), %r9d
    add (%rdx,%rax,4), %r9d
    mov %r9d, (%rdi,%rax,4)
    inc %rax
    cmp %rcx, %rax
    jl 3b
4:  ret
    .size add, . - add
    .section .note.GNU-stack, "", @progbits
