# Equal bytes close together wait for each other's count in memory, so neighbours count in four different tables: the
# output and three on the stack, which are added up at the end. Short inputs count in the output alone.
    .text
    .p2align 5
    .globl histogram
    .type histogram, @function
histogram:
    vpxor %xmm0, %xmm0, %xmm0
    xorl %eax, %eax
1:
    vmovdqu %ymm0, (%rdx,%rax)
    vmovdqu %ymm0, 32(%rdx,%rax)
    addl $64, %eax
    cmpl $1024, %eax
    jne 1b
    cmpq $512, %rsi
    jb .Lrest
    subq $3080, %rsp
    xorl %eax, %eax
1:
    vmovdqu %ymm0, (%rsp,%rax)
    vmovdqu %ymm0, 32(%rsp,%rax)
    addl $64, %eax
    cmpl $3072, %eax
    jne 1b
    leaq -8(%rdi,%rsi), %r10        # the last place of a whole turn
    .p2align 4
.Lturn:
    movq (%rdi), %rax
    addq $8, %rdi
    movzbl %al, %ecx
    movzbl %ah, %esi
    incl (%rdx,%rcx,4)
    incl 0(%rsp,%rsi,4)
    shrq $16, %rax
    movzbl %al, %ecx
    movzbl %ah, %esi
    incl 1024(%rsp,%rcx,4)
    incl 2048(%rsp,%rsi,4)
    shrq $16, %rax
    movzbl %al, %ecx
    movzbl %ah, %esi
    incl (%rdx,%rcx,4)
    incl 0(%rsp,%rsi,4)
    shrq $16, %rax
    movzbl %al, %ecx
    movzbl %ah, %esi
    incl 1024(%rsp,%rcx,4)
    incl 2048(%rsp,%rsi,4)
    cmpq %r10, %rdi
    jbe .Lturn
    leaq 8(%r10), %rsi
    subq %rdi, %rsi                 # bytes left
    xorl %eax, %eax
1:
    vmovdqu (%rdx,%rax), %ymm0
    vmovdqu (%rsp,%rax), %ymm1
    vpaddd 1024(%rsp,%rax), %ymm0, %ymm0
    vpaddd 2048(%rsp,%rax), %ymm1, %ymm1
    vpaddd %ymm1, %ymm0, %ymm0
    vmovdqu %ymm0, (%rdx,%rax)
    addl $32, %eax
    cmpl $1024, %eax
    jne 1b
    addq $3080, %rsp
.Lrest:
    vzeroupper
    addq %rdi, %rsi
1:
    cmpq %rsi, %rdi
    je 2f
    movzbl (%rdi), %eax
    incq %rdi
    incl (%rdx,%rax,4)
    jmp 1b
2:
    ret
    .size histogram, .-histogram
    .section .note.GNU-stack,"",@progbits
