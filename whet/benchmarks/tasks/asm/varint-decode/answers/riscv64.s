    .text
    .p2align 1
    .globl varint_decode
    .type varint_decode, @function
varint_decode:
    add a1, a0, a1                  # end
    mv t0, a2                       # where the next number goes
    li t1, 64
.Lnumber:
    li t2, 0                        # the number so far
    li t3, 0                        # bits that it has
.Lgroup:
    beq a0, a1, .Ldone
    lb t4, 0(a0)
    addi a0, a0, 1
    bgeu t3, t1, .Ldropped          # bits above the 64th
    andi t5, t4, 0x7f
    sll t5, t5, t3
    or t2, t2, t5
.Ldropped:
    addi t3, t3, 7
    bltz t4, .Lgroup
    sd t2, 0(t0)
    addi t0, t0, 8
    j .Lnumber
.Ldone:
    sub a0, t0, a2
    srai a0, a0, 3
    ret
    .size varint_decode, .-varint_decode
    .section .note.GNU-stack,"",@progbits
