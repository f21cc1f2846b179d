// Writes runs of equal bytes as their length and the byte.
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
// x0: length of a run, w1: its byte
    .type tell, %function
tell:
    cmp w1, 10
    b.eq .Llines
    cmp x0, 0
    b.le .Ltold
    mov w2, w1
    mov x1, x0
    adrp x0, .Lrun
    add x0, x0, :lo12:.Lrun
    b printf
.Llines:
    stp x29, x30, [sp, -32]!
    mov x29, sp
    str x19, [sp, 16]
    mov x19, x0
.Lline:
    subs x19, x19, 1
    b.mi .Lended
    mov w0, 10
    bl putchar
    b .Lline
.Lended:
    ldr x19, [sp, 16]
    ldp x29, x30, [sp], 32
.Ltold:
    ret
    .size tell, .-tell

// x19: where in the block, x20: its end, x21: length of the run, w22: its byte, x23: runs
    .globl main
    .type main, %function
main:
    stp x29, x30, [sp, -64]!
    mov x29, sp
    stp x19, x20, [sp, 16]
    stp x21, x22, [sp, 32]
    str x23, [sp, 48]
    mov x21, 0
    mov w22, -1
    mov x23, 0
.Lread:
    mov w0, 0
    adrp x1, .Lblock
    add x1, x1, :lo12:.Lblock
    mov x2, 4096
    bl read
    cmp x0, 0
    b.le .Lend
    adrp x19, .Lblock
    add x19, x19, :lo12:.Lblock
    add x20, x19, x0
.Lbyte:
    cmp x19, x20
    b.eq .Lread
    ldrb w8, [x19], 1
    cmp w8, w22
    b.ne .Lother
    add x21, x21, 1
    b .Lbyte
.Lother:
    mov x0, x21
    mov w1, w22
    mov w22, w8
    bl tell
    mov x21, 1
    add x23, x23, 1
    b .Lbyte
.Lend:
    mov x0, x21
    mov w1, w22
    bl tell
    adrp x0, .Lsum
    add x0, x0, :lo12:.Lsum
    mov x1, x23
    bl printf
    cmp x23, 0
    cset w0, eq
    ldp x19, x20, [sp, 16]
    ldp x21, x22, [sp, 32]
    ldr x23, [sp, 48]
    ldp x29, x30, [sp], 64
    ret
    .size main, .-main
    .section .note.GNU-stack,"",%progbits
