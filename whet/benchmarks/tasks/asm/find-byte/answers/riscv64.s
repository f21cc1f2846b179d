    .text
    .p2align 1
    .globl find_byte
    .type find_byte, @function
find_byte:
    andi a2, a2, 255
    mv t0, a0
    add a1, a0, a1                  # end
    beq t0, a1, .Lnone
.Lbyte:
    lbu t1, 0(t0)
    beq t1, a2, .Lfound
    addi t0, t0, 1
    bne t0, a1, .Lbyte
.Lnone:
    li a0, -1
    ret
.Lfound:
    sub a0, t0, a0
    ret
    .size find_byte, .-find_byte
    .section .note.GNU-stack,"",@progbits
