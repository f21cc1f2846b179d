/* System V ABI, x86-64: calls with chosen registers, and keeps what they hold afterwards. */
#include "call.h"

.macro each_vector operation, register, count
    .set number, 0
    .rept \count
    vector_of \operation, \register, %number
    .set number, number + 1
    .endr
.endm
.altmacro
.macro vector_of operation, register, number
    \operation OF_VECTORS + VECTOR * \number(%rdi), %\register\number
.endm

    .text
    .globl whet_call, whet_returned
    .type whet_call, @function
whet_call:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rdi, whet_current(%rip)
    mov %rsp, OF_OWN_SP(%rdi)

    cmpl $1, OF_LEVEL(%rdi)
    je 1f
    ja 2f
    each_vector movdqu, xmm, 16
    jmp 3f
1:  each_vector vmovdqu, ymm, 16
    jmp 3f
2:  each_vector vmovdqu64, zmm, 32
    kmovw OF_SCRATCH(%rdi), %k1
    kmovw OF_SCRATCH + 2(%rdi), %k2
    kmovw OF_SCRATCH + 4(%rdi), %k3
    kmovw OF_SCRATCH + 6(%rdi), %k4
    kmovw OF_SCRATCH + 8(%rdi), %k5
    kmovw OF_SCRATCH + 10(%rdi), %k6
    kmovw OF_SCRATCH + 12(%rdi), %k7

3:  fninit
    ldmxcsr mxcsr(%rip)
    mov OF_SP(%rdi), %rsp
    mov OF_BEFORE(%rdi), %rbx
    mov OF_BEFORE + 8(%rdi), %rbp
    mov OF_BEFORE + 16(%rdi), %r12
    mov OF_BEFORE + 24(%rdi), %r13
    mov OF_BEFORE + 32(%rdi), %r14
    mov OF_BEFORE + 40(%rdi), %r15
    mov OF_SCRATCH(%rdi), %rax
    mov OF_SCRATCH + 8(%rdi), %r10
    mov OF_SCRATCH + 16(%rdi), %r11
    mov OF_INTS + 8(%rdi), %rsi
    mov OF_INTS + 16(%rdi), %rdx
    mov OF_INTS + 24(%rdi), %rcx
    mov OF_INTS + 32(%rdi), %r8
    mov OF_INTS + 40(%rdi), %r9
    pushq OF_ENTRY_FLAGS(%rdi)
    mov OF_INTS(%rdi), %rdi
    popfq
    call *whet_target(%rip)
whet_returned:
    mov whet_current(%rip), %r11
    mov %rsp, OF_SP_AFTER(%r11)
    mov OF_OWN_SP(%r11), %rsp
    mov %rax, OF_RETURNED(%r11)
    movq %xmm0, OF_RETURNED_FLOAT(%r11)
    pushfq
    andl $0x400, (%rsp)
    popq OF_FLAGS(%r11)
    cld
    mov %rbx, OF_AFTER(%r11)
    mov %rbp, OF_AFTER + 8(%r11)
    mov %r12, OF_AFTER + 16(%r11)
    mov %r13, OF_AFTER + 24(%r11)
    mov %r14, OF_AFTER + 32(%r11)
    mov %r15, OF_AFTER + 40(%r11)
    stmxcsr OF_CONTROL(%r11)
    andl $0xffc0, OF_CONTROL(%r11)
    ldmxcsr mxcsr(%rip)
    sub $32, %rsp
    fnstenv (%rsp)
    movzwl (%rsp), %eax
    movzwl 8(%rsp), %ecx
    shl $16, %rcx
    or %rcx, %rax
    mov %rax, OF_X87(%r11)
    fninit
    add $32, %rsp
    cmpl $0, OF_LEVEL(%r11)
    je 4f
    vzeroupper
4:  pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    ret
    .size whet_call, . - whet_call

    .section .rodata
    .p2align 2
mxcsr:
    .long 0x1f80
    .section .note.GNU-stack, "", @progbits
