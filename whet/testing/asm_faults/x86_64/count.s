    .text
    .globl count
    .type count, @function
count:
    xor %eax, %eax
    movslq %esi, %rcx
    lea (%rdi,%rcx), %r8
    cmp %r8, %rdi
    jae 2f
1:  xor %r9d, %r9d
    cmp %dl, (%rdi)
    sete %r9b
    add %r9d, %eax
    inc %rdi
    cmp %r8, %rdi
    jb 1b
2:  ret
    .size count, . - count
    .section .note.GNU-stack, "", @progbits
