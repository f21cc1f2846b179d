    .text
    .p2align 1
    .globl gemv
    .type gemv, @function
gemv:
    beqz a3, .Ldone
    slli a3, a3, 2
    add a3, a2, a3                  # where y ends
    slli t0, a4, 2
    add t0, a1, t0                  # where x ends
    andi t1, a4, -2
    slli t1, t1, 2
    add t1, a1, t1                  # where its pairs do
.Lrow:
    mv t2, a1
    fmv.w.x ft0, zero
    fmv.w.x ft1, zero               # two sums: an addition does not wait for the last one
    beq t2, t1, .Llast
.Lpair:
    flw ft2, 0(a0)
    flw ft3, 0(t2)
    flw ft4, 4(a0)
    flw ft5, 4(t2)
    fmadd.s ft0, ft2, ft3, ft0
    fmadd.s ft1, ft4, ft5, ft1
    addi a0, a0, 8
    addi t2, t2, 8
    bne t2, t1, .Lpair
.Llast:
    beq t2, t0, .Lstore
    flw ft2, 0(a0)
    flw ft3, 0(t2)
    fmadd.s ft0, ft2, ft3, ft0
    addi a0, a0, 4
.Lstore:
    fadd.s ft0, ft0, ft1
    fsw ft0, 0(a2)
    addi a2, a2, 4
    bne a2, a3, .Lrow
.Ldone:
    ret
    .size gemv, .-gemv
    .section .note.GNU-stack,"",@progbits
