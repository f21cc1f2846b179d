/* RISC-V psABI, lp64d: calls with chosen registers, and keeps what they hold afterwards. */
#include "call.h"

.macro numbered operation, register, base, first, last
    .set number, \first
    .rept \last - \first + 1
    one_of \operation, \register, \base, %number, %(number - \first)
    .set number, number + 1
    .endr
.endm
.altmacro
.macro one_of operation, register, base, number, place
    \operation \register\number, \base + 8 * \place(t0)
.endm

    .text
    .globl whet_call, whet_returned
    .type whet_call, @function
whet_call:
    mv t0, a0
    addi sp, sp, -208
    sd ra, 192(sp)
    sd gp, 200(sp)
    .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    sd s\number, 8 * \number(sp)
    fsd fs\number, 96 + 8 * \number(sp)
    .endr
    la t1, whet_current
    sd t0, 0(t1)
    sd sp, OF_OWN_SP(t0)
    la t1, own_tp
    sd tp, 0(t1)
    .irp number, 0, 1, 2, 3, 4, 5, 6, 7
    fld fa\number, OF_VECTORS + VECTOR * \number(t0)
    .endr
    .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    fld ft\number, OF_VECTORS + VECTOR * (8 + \number)(t0)
    .endr
    numbered ld, s, OF_BEFORE, 0, 11
    numbered fld, fs, OF_BEFORE + 96, 0, 11
    fscsr zero
    ld sp, OF_SP(t0)
    ld t2, OF_SCRATCH(t0)
    ld t3, OF_SCRATCH + 8(t0)
    ld t4, OF_SCRATCH + 16(t0)
    ld t5, OF_SCRATCH + 24(t0)
    ld t6, OF_SCRATCH + 32(t0)
    numbered ld, a, OF_INTS, 0, 7
    la t1, whet_target
    ld t1, 0(t1)
    ld t0, OF_SCRATCH + 40(t0)
    jalr ra, 0(t1)
whet_returned:
    /* The global pointer may be spoilt: nothing is found by it before it is set again. */
    .option push
    .option norelax
    lla t0, whet_current
    ld t0, 0(t0)
    sd sp, OF_SP_AFTER(t0)
    ld sp, OF_OWN_SP(t0)
    ld t1, 200(sp)
    xor t2, t1, gp
    mv gp, t1
    lla t1, own_tp
    ld t1, 0(t1)
    xor t3, t1, tp
    mv tp, t1
    or t2, t2, t3
    sd t2, OF_FLAGS(t0)
    .option pop
    sd zero, OF_X87(t0)
    sd a0, OF_RETURNED(t0)
    fsd fa0, OF_RETURNED_FLOAT(t0)
    numbered sd, s, OF_AFTER, 0, 11
    numbered fsd, fs, OF_AFTER + 96, 0, 11
    frrm t1
    sd t1, OF_CONTROL(t0)
    fscsr zero
    .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    ld s\number, 8 * \number(sp)
    fld fs\number, 96 + 8 * \number(sp)
    .endr
    ld ra, 192(sp)
    addi sp, sp, 208
    ret
    .size whet_call, . - whet_call

    .bss
    .p2align 3
own_tp:
    .zero 8
    .section .note.GNU-stack, "", @progbits
