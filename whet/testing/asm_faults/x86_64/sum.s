    .text
    .globl sum
    .type sum, @function
sum:
    xor %eax, %eax
    xor %ecx, %ecx
    cmp %rsi, %rcx
    jge 2f
1:  movslq (%rdi,%rcx,4), %rdx
    add %rdx, %rax
    inc %rcx
    cmp %rsi, %rcx
    jl 1b
2:  ret
    .size sum, . - sum
    .section .note.GNU-stack, "", @progbits
