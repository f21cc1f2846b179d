    .text
    .p2align 1
    .globl saxpy
    .type saxpy, @function
saxpy:
    slli a2, a2, 2
    add a2, a0, a2
    beq a0, a2, .Ldone
.Lone:
    flw ft0, 0(a0)
    flw ft1, 0(a1)
    fmul.s ft0, ft0, fa0
    addi a0, a0, 4
    fadd.s ft1, ft0, ft1
    fsw ft1, 0(a1)
    addi a1, a1, 4
    bne a0, a2, .Lone
.Ldone:
    ret
    .size saxpy, .-saxpy
    .section .note.GNU-stack,"",@progbits
