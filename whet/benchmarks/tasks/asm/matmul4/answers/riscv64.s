    .text
    .p2align 1
    .globl matmul4
    .type matmul4, @function
matmul4:
    beqz a3, .Ldone
    addi sp, sp, -32
    fsd fs0, 0(sp)
    fsd fs1, 8(sp)
    fsd fs2, 16(sp)
    fsd fs3, 24(sp)
.Lpair:                             # all of b, and a row of a, in registers
    flw ft0, 0(a1)
    flw ft1, 4(a1)
    flw ft2, 8(a1)
    flw ft3, 12(a1)
    flw ft4, 16(a1)
    flw ft5, 20(a1)
    flw ft6, 24(a1)
    flw ft7, 28(a1)
    flw ft8, 32(a1)
    flw ft9, 36(a1)
    flw ft10, 40(a1)
    flw ft11, 44(a1)
    flw fs0, 48(a1)
    flw fs1, 52(a1)
    flw fs2, 56(a1)
    flw fs3, 60(a1)
    addi t0, a0, 64
.Lrow:
    flw fa0, 0(a0)
    flw fa1, 4(a0)
    flw fa2, 8(a0)
    flw fa3, 12(a0)
    fmul.s fa4, fa0, ft0
    fmul.s fa5, fa1, ft4
    fmul.s fa6, fa2, ft8
    fmul.s fa7, fa3, fs0
    fadd.s fa4, fa4, fa5
    fadd.s fa4, fa4, fa6
    fadd.s fa4, fa4, fa7
    fsw fa4, 0(a2)
    fmul.s fa4, fa0, ft1
    fmul.s fa5, fa1, ft5
    fmul.s fa6, fa2, ft9
    fmul.s fa7, fa3, fs1
    fadd.s fa4, fa4, fa5
    fadd.s fa4, fa4, fa6
    fadd.s fa4, fa4, fa7
    fsw fa4, 4(a2)
    fmul.s fa4, fa0, ft2
    fmul.s fa5, fa1, ft6
    fmul.s fa6, fa2, ft10
    fmul.s fa7, fa3, fs2
    fadd.s fa4, fa4, fa5
    fadd.s fa4, fa4, fa6
    fadd.s fa4, fa4, fa7
    fsw fa4, 8(a2)
    fmul.s fa4, fa0, ft3
    fmul.s fa5, fa1, ft7
    fmul.s fa6, fa2, ft11
    fmul.s fa7, fa3, fs3
    fadd.s fa4, fa4, fa5
    fadd.s fa4, fa4, fa6
    fadd.s fa4, fa4, fa7
    fsw fa4, 12(a2)
    addi a0, a0, 16
    addi a2, a2, 16
    bne a0, t0, .Lrow
    addi a1, a1, 64
    addi a3, a3, -1
    bnez a3, .Lpair
    fld fs0, 0(sp)
    fld fs1, 8(sp)
    fld fs2, 16(sp)
    fld fs3, 24(sp)
    addi sp, sp, 32
.Ldone:
    ret
    .size matmul4, .-matmul4
    .section .note.GNU-stack,"",@progbits
