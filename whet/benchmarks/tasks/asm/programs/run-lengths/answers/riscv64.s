# Writes runs of equal bytes as their length and the byte.
    .section .rodata
.Lrun:
    .string "%ld%c"
.Lsum:
    .string "\n%ld runs\n"

    .bss
    .balign 16
.Lblock:
    .skip 4096

    .text
# a0: length of a run, a1: its byte
    .type tell, @function
tell:
    li t0, 10
    beq a1, t0, .Llines
    blez a0, .Ltold
    mv a2, a1
    mv a1, a0
    lla a0, .Lrun
    tail printf
.Llines:
    addi sp, sp, -16
    sd ra, 8(sp)
    sd s0, 0(sp)
    mv s0, a0
.Lline:
    addi s0, s0, -1
    bltz s0, .Lended
    li a0, 10
    call putchar
    j .Lline
.Lended:
    ld ra, 8(sp)
    ld s0, 0(sp)
    addi sp, sp, 16
.Ltold:
    ret
    .size tell, .-tell

# s0: where in the block, s1: its end, s2: length of the run, s3: its byte, s4: runs
    .globl main
    .type main, @function
main:
    addi sp, sp, -48
    sd ra, 40(sp)
    sd s0, 32(sp)
    sd s1, 24(sp)
    sd s2, 16(sp)
    sd s3, 8(sp)
    sd s4, 0(sp)
    li s2, 0
    li s3, -1
    li s4, 0
.Lread:
    li a0, 0
    lla a1, .Lblock
    li a2, 4096
    call read
    blez a0, .Lend
    lla s0, .Lblock
    add s1, s0, a0
.Lbyte:
    beq s0, s1, .Lread
    lbu t0, 0(s0)
    addi s0, s0, 1
    bne t0, s3, .Lother
    addi s2, s2, 1
    j .Lbyte
.Lother:
    mv a0, s2
    mv a1, s3
    mv s3, t0
    call tell
    li s2, 1
    addi s4, s4, 1
    j .Lbyte
.Lend:
    mv a0, s2
    mv a1, s3
    call tell
    lla a0, .Lsum
    mv a1, s4
    call printf
    seqz a0, s4
    ld ra, 40(sp)
    ld s0, 32(sp)
    ld s1, 24(sp)
    ld s2, 16(sp)
    ld s3, 8(sp)
    ld s4, 0(sp)
    addi sp, sp, 48
    ret
    .size main, .-main
    .section .note.GNU-stack,"",@progbits
