    .text
    .p2align 1
    .globl inet_checksum
    .type inet_checksum, @function
inet_checksum:
    li t0, 0                        # sum of the words
    li t3, 2
    bltu a1, t3, .Lodd
.Lword:
    lbu t1, 0(a0)                   # the buffer need not be aligned
    lbu t2, 1(a0)
    addi a0, a0, 2
    addi a1, a1, -2
    slli t1, t1, 8
    add t0, t0, t2
    add t0, t0, t1
    bgeu a1, t3, .Lword
.Lodd:
    beqz a1, .Lfold
    lbu t1, 0(a0)
    slli t1, t1, 8
    add t0, t0, t1
.Lfold:
    srli t1, t0, 16
    beqz t1, .Ldone
    slli t0, t0, 48
    srli t0, t0, 48
    add t0, t0, t1
    j .Lfold
.Ldone:
    not t0, t0
    slli t0, t0, 48
    srli a0, t0, 48
    ret
    .size inet_checksum, .-inet_checksum
    .section .note.GNU-stack,"",@progbits
