    .text
    .p2align 1
    .globl base64_encode
    .type base64_encode, @function
base64_encode:
    lla t0, .Lalphabet
    mv t1, a2                       # where the output goes on
    li t2, 3
    bltu a1, t2, .Lpad
.Lthree:
    lbu t3, 0(a0)
    lbu t4, 1(a0)
    lbu t5, 2(a0)
    addi a0, a0, 3
    addi a1, a1, -3
    srli a3, t3, 2
    add a3, a3, t0
    lbu a3, 0(a3)
    andi t3, t3, 3
    slli t3, t3, 4
    srli a4, t4, 4
    or t3, t3, a4
    add t3, t3, t0
    lbu t3, 0(t3)
    andi t4, t4, 15
    slli t4, t4, 2
    srli a4, t5, 6
    or t4, t4, a4
    add t4, t4, t0
    lbu t4, 0(t4)
    andi t5, t5, 63
    add t5, t5, t0
    lbu t5, 0(t5)
    sb a3, 0(t1)
    sb t3, 1(t1)
    sb t4, 2(t1)
    sb t5, 3(t1)
    addi t1, t1, 4
    bgeu a1, t2, .Lthree
.Lpad:
    beqz a1, .Ldone
    li t5, 61                       # =
    lbu t3, 0(a0)
    srli a3, t3, 2
    andi t3, t3, 3
    slli t3, t3, 4
    addi a1, a1, -1
    beqz a1, .Lput
    lbu t4, 1(a0)
    srli a4, t4, 4
    or t3, t3, a4
    andi t4, t4, 15
    slli t4, t4, 2
    add t4, t4, t0
    lbu t5, 0(t4)
.Lput:
    add a3, a3, t0
    lbu a3, 0(a3)
    add t3, t3, t0
    lbu t3, 0(t3)
    sb a3, 0(t1)
    sb t3, 1(t1)
    sb t5, 2(t1)
    li t5, 61
    sb t5, 3(t1)
    addi t1, t1, 4
.Ldone:
    sub a0, t1, a2
    ret
    .size base64_encode, .-base64_encode
    .section .rodata
.Lalphabet:
    .ascii "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    .section .note.GNU-stack,"",@progbits
