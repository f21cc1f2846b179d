    .text
    .p2align 1
    .globl sort_rows
    .type sort_rows, @function
sort_rows:
    slli a1, a1, 5
    add a1, a0, a1                  # end of the rows
    beq a0, a1, .Ldone
.Lrow:
    addi t0, a0, 4                  # the next value to put in its place
    addi t1, a0, 32
.Lvalue:
    lw t2, 0(t0)
    mv t3, t0
.Lplace:
    lw t4, -4(t3)
    ble t4, t2, .Lput
    sw t4, 0(t3)
    addi t3, t3, -4
    bne t3, a0, .Lplace
.Lput:
    sw t2, 0(t3)
    addi t0, t0, 4
    bne t0, t1, .Lvalue
    mv a0, t1
    bne a0, a1, .Lrow
.Ldone:
    ret
    .size sort_rows, .-sort_rows
    .section .note.GNU-stack,"",@progbits
