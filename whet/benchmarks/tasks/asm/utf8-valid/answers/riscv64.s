    .text
    .p2align 1
    .globl utf8_valid
    .type utf8_valid, @function
utf8_valid:
    add a1, a0, a1                  # end
    li a2, 0x80
    li a3, 0xc2
    li a4, 0xe0
    li a5, 0xf0
    li a6, 0xf5
.Lcharacter:
    beq a0, a1, .Lvalid
    lbu t0, 0(a0)
    addi a0, a0, 1
    bltu t0, a2, .Lcharacter
    bltu t0, a3, .Lwrong
    li t1, 1                        # bytes that follow
    bltu t0, a4, .Lroom
    li t1, 2
    bltu t0, a5, .Lroom
    li t1, 3
    bgeu t0, a6, .Lwrong
.Lroom:
    sub t2, a1, a0
    bltu t2, t1, .Lwrong
    lbu t3, 0(a0)
    addi a0, a0, 1
    addi t3, t3, -0x80              # the six bits of the second byte
    li t4, 64
    bgeu t3, t4, .Lwrong
    li t5, 0x20
    bne t0, a4, .Lsurrogate
    bltu t3, t5, .Lwrong            # shorter forms exist
.Lsurrogate:
    li t6, 0xed
    bne t0, t6, .Lfour
    bgeu t3, t5, .Lwrong
.Lfour:
    li t5, 0x10
    bne t0, a5, .Llargest
    bltu t3, t5, .Lwrong
.Llargest:
    li t6, 0xf4
    bne t0, t6, .Lrest
    bgeu t3, t5, .Lwrong
.Lrest:
    addi t1, t1, -1
    beqz t1, .Lcharacter
    lbu t3, 0(a0)
    addi a0, a0, 1
    addi t3, t3, -0x80
    bltu t3, t4, .Lrest
.Lwrong:
    li a0, 0
    ret
.Lvalid:
    li a0, 1
    ret
    .size utf8_valid, .-utf8_valid
    .section .note.GNU-stack,"",@progbits
