    .text
    .globl evens
    .type evens, @function
evens:
    xorl %eax, %eax
    testq %rsi, %rsi
    jle .Lend
    leaq (%rdi,%rsi,4), %rsi
.Lnext:
    movl (%rdi), %ecx
    notl %ecx
    andl $1, %ecx
    addq %rcx, %rax
    addq $4, %rdi
    cmpq %rsi, %rdi
    jne .Lnext
.Lend:
    movq evens_met@GOTPCREL(%rip), %rdx
    addq %rax, (%rdx)
    ret
    .size evens, .-evens
    .section .note.GNU-stack,"",@progbits
