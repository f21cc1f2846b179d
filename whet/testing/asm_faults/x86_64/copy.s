    .text
    .globl copy
    .type copy, @function
copy:
    xor %ecx, %ecx
    sub $16, %rdx
    jl 2f
1:  movdqu (%rsi,%rcx), %xmm0
    movdqu %xmm0, (%rdi,%rcx)
    add $16, %rcx
    cmp %rdx, %rcx
    jle 1b
2:  add $16, %rdx
    cmp %rdx, %rcx
    jge 4f
3:  movzbl (%rsi,%rcx), %eax
    movb %al, (%rdi,%rcx)
    inc %rcx
    cmp %rdx, %rcx
    jl 3b
4:  ret
    .size copy, . - copy
    .section .note.GNU-stack, "", @progbits
