    .text
    .p2align 1
    .globl jacobi
    .type jacobi, @function
jacobi:
    mul t0, a3, a4                  # points
    li t1, 3
    blt a3, t1, .Lcopy
    blt a4, t1, .Lcopy
    li t1, 0x3e800000               # a quarter
    fmv.w.x fa0, t1
    slli t1, a4, 2                  # bytes of a row
    add t2, a0, t1                  # the first row
1:
    flw ft0, 0(a0)
    addi a0, a0, 4
    fsw ft0, 0(a2)
    addi a2, a2, 4
    bne a0, t2, 1b
    add a1, a1, t1                  # a0, a2, a1: in, out and source at the second row
    addi a3, a3, -2
.Lrow:
    flw ft0, 0(a0)                  # the left neighbour, which goes along in a register
    flw ft1, 4(a0)
    fsw ft0, 0(a2)
    sub t3, a0, t1                  # above
    add t4, a0, t1                  # below
    addi t2, t4, -4                 # the last point of the row
    addi a0, a0, 4
2:
    flw ft2, 4(t3)
    flw ft3, 4(t4)
    flw ft4, 4(a0)
    flw ft5, 4(a1)
    fadd.s ft2, ft2, ft3
    addi t3, t3, 4
    fadd.s ft2, ft2, ft0
    addi t4, t4, 4
    fadd.s ft2, ft2, ft4
    addi a0, a0, 4
    fmadd.s ft5, ft2, fa0, ft5
    fmv.s ft0, ft1
    fmv.s ft1, ft4
    addi a1, a1, 4
    fsw ft5, 4(a2)
    addi a2, a2, 4
    bne a0, t2, 2b
    fsw ft1, 4(a2)                  # the right edge
    addi a0, a0, 4
    addi a1, a1, 8
    addi a2, a2, 8
    addi a3, a3, -1
    bnez a3, .Lrow
    mv t0, a4                       # the last row
.Lcopy:
    beqz t0, 4f
    slli t0, t0, 2
    add t0, a0, t0
3:
    flw ft0, 0(a0)
    addi a0, a0, 4
    fsw ft0, 0(a2)
    addi a2, a2, 4
    bne a0, t0, 3b
4:
    ret
    .size jacobi, .-jacobi
    .section .note.GNU-stack,"",@progbits
