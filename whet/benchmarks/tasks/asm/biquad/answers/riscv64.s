    .text
    .p2align 1
    .globl biquad
    .type biquad, @function
biquad:
    beqz a2, .Ldone
    flw fa0, 0(a3)                  # b0, b1, b2
    flw fa1, 4(a3)
    flw fa2, 8(a3)
    flw fa3, 12(a3)                 # a1, a2
    flw fa4, 16(a3)
    fmv.w.x ft1, zero               # the last inputs
    fmv.w.x ft2, zero
    fmv.w.x ft3, zero               # the last outputs
    fmv.w.x ft4, zero
    slli a2, a2, 2
    add a2, a0, a2
.Lsample:
    flw ft0, 0(a0)
    addi a0, a0, 4
    fmul.s ft5, fa0, ft0
    fmul.s ft6, fa1, ft1
    fmul.s ft7, fa2, ft2
    fadd.s ft5, ft5, ft6
    fmul.s ft6, fa3, ft3
    fadd.s ft5, ft5, ft7
    fmul.s ft7, fa4, ft4
    fmv.s ft2, ft1
    fsub.s ft5, ft5, ft6
    fmv.s ft1, ft0
    fmv.s ft4, ft3
    fsub.s ft3, ft5, ft7
    fsw ft3, 0(a1)
    addi a1, a1, 4
    bne a0, a2, .Lsample
.Ldone:
    ret
    .size biquad, .-biquad
    .section .note.GNU-stack,"",@progbits
