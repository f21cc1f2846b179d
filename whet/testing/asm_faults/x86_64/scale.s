    .text
    .globl scale
    .type scale, @function
scale:
    xor %eax, %eax
    cmp %rdx, %rax
    jge 2f
1:  movsd (%rsi,%rax,8), %xmm1
    mulsd %xmm0, %xmm1
    addsd (%rdi,%rax,8), %xmm1
    movsd %xmm1, (%rdi,%rax,8)
    inc %rax
    cmp %rdx, %rax
    jl 1b
2:  ret
    .size scale, . - scale
    .section .note.GNU-stack, "", @progbits
