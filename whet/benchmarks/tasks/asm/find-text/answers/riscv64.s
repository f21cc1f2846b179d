    .text
    .p2align 1
    .globl find_text
    .type find_text, @function
find_text:
    beqz a3, .Lstart
    sub a1, a1, a3                  # the last place
    bltz a1, .Lnone
    add a1, a0, a1
    add a3, a2, a3                  # end of the word
    lbu t0, 0(a2)
    mv t1, a0
.Lplace:
    lbu t2, 0(t1)
    bne t2, t0, .Lnext
    mv t3, t1
    mv t4, a2
.Lletter:
    addi t3, t3, 1
    addi t4, t4, 1
    beq t4, a3, .Lfound
    lbu t5, 0(t3)
    lbu t6, 0(t4)
    beq t5, t6, .Lletter
.Lnext:
    addi t1, t1, 1
    bleu t1, a1, .Lplace
.Lnone:
    li a0, -1
    ret
.Lfound:
    sub a0, t1, a0
    ret
.Lstart:
    li a0, 0
    ret
    .size find_text, .-find_text
    .section .note.GNU-stack,"",@progbits
