    .text
    .globl mix
    .type mix, @function
mix:
    lea (%rsi,%rsi,2), %rax
    add %rdi, %rax
    lea (%rdx,%rdx,4), %rdx
    add %rdx, %rax
    imul $7, %rcx, %rcx
    add %rcx, %rax
    lea (%r8,%r8,8), %r8
    add %r8, %rax
    imul $11, %r9, %r9
    add %r9, %rax
    imul $13, 8(%rsp), %rcx
    add %rcx, %rax
    imul $15, 16(%rsp), %rcx
    add %rcx, %rax
    imul $17, 24(%rsp), %rcx
    add %rcx, %rax
    imul $19, 32(%rsp), %rcx
    add %rcx, %rax
    ret
    .size mix, . - mix
    .section .note.GNU-stack, "", @progbits
