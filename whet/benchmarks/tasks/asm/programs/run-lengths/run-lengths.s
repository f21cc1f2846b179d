# Writes runs of equal bytes as their length and the byte.
    .section .rodata
.Lrun:
    .string "%ld%c"
.Lsum:
    .string "\n%ld runs\n"

    .bss
    .balign 16
.Lblock:
    .skip 4096

    .text
# rdi: length of a run, esi: its byte
    .type tell, @function
tell:
    cmpl $10, %esi
    je .Llines
    testq %rdi, %rdi
    jle .Ltold
    movl %esi, %edx
    movq %rdi, %rsi
    leaq .Lrun(%rip), %rdi
    xorl %eax, %eax
    jmp printf@PLT
.Llines:
    pushq %rbx
    movq %rdi, %rbx
.Lline:
    subq $1, %rbx
    js .Lended
    movl $10, %edi
    call putchar@PLT
    jmp .Lline
.Lended:
    popq %rbx
.Ltold:
    ret
    .size tell, .-tell

# rbx: where in the block, rbp: its end, r12: length of the run, r13d: its byte, r14: runs
    .globl main
    .type main, @function
main:
    pushq %rbx
    pushq %rbp
    pushq %r12
    pushq %r13
    pushq %r14
    xorl %r12d, %r12d
    movl $-1, %r13d
    xorl %r14d, %r14d
.Lread:
    xorl %edi, %edi
    leaq .Lblock(%rip), %rsi
    movl $4096, %edx
    call read@PLT
    testq %rax, %rax
    jle .Lend
    leaq .Lblock(%rip), %rbx
    leaq (%rbx,%rax), %rbp
.Lbyte:
    cmpq %rbp, %rbx
    je .Lread
    movzbl (%rbx), %eax
    incq %rbx
    cmpl %r13d, %eax
    jne .Lother
    incq %r12
    jmp .Lbyte
.Lother:
    movq %r12, %rdi
    movl %r13d, %esi
    movl %eax, %r13d
    call tell
    movl $1, %r12d
    incq %r14
    jmp .Lbyte
.Lend:
    movq %r12, %rdi
    movl %r13d, %esi
    call tell
    leaq .Lsum(%rip), %rdi
    movq %r14, %rsi
    xorl %eax, %eax
    call printf@PLT
    xorl %eax, %eax
    testq %r14, %r14
    sete %al
    popq %r14
    popq %r13
    popq %r12
    popq %rbp
    popq %rbx
    ret
    .size main, .-main
    .section .note.GNU-stack,"",@progbits
