/* AAPCS64: calls with chosen registers, and keeps what they hold afterwards. */
#include "call.h"

    .text
    .globl whet_call, whet_returned
    .type whet_call, %function
whet_call:
    stp x29, x30, [sp, -160]!
    stp x19, x20, [sp, 16]
    stp x21, x22, [sp, 32]
    stp x23, x24, [sp, 48]
    stp x25, x26, [sp, 64]
    stp x27, x28, [sp, 80]
    stp d8, d9, [sp, 96]
    stp d10, d11, [sp, 112]
    stp d12, d13, [sp, 128]
    stp d14, d15, [sp, 144]
    adrp x9, whet_current
    str x0, [x9, :lo12:whet_current]
    mov x9, sp
    str x9, [x0, OF_OWN_SP]

    add x9, x0, OF_VECTORS
    .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    ldr q\number, [x9, VECTOR * \number]
    .endr
    /* Of these a callee keeps the lower halves alone; the upper ones hold garbage. */
    .irp number, 8, 9, 10, 11, 12, 13, 14, 15
    ldr x9, [x0, OF_BEFORE + 88 + 8 * (\number - 8)]
    mov v\number\().d[0], x9
    .endr
    msr fpcr, xzr
    ldr x9, [x0, OF_SP]
    mov sp, x9
    ldp x19, x20, [x0, OF_BEFORE]
    ldp x21, x22, [x0, OF_BEFORE + 16]
    ldp x23, x24, [x0, OF_BEFORE + 32]
    ldp x25, x26, [x0, OF_BEFORE + 48]
    ldp x27, x28, [x0, OF_BEFORE + 64]
    ldr x29, [x0, OF_BEFORE + 80]
    ldp x8, x9, [x0, OF_SCRATCH]
    ldp x10, x11, [x0, OF_SCRATCH + 16]
    ldp x12, x13, [x0, OF_SCRATCH + 32]
    ldp x14, x15, [x0, OF_SCRATCH + 48]
    adrp x16, whet_target
    ldr x16, [x16, :lo12:whet_target]
    ldr x17, [x0, OF_ENTRY_FLAGS]
    msr nzcv, x17
    ldr x17, [x0, OF_SCRATCH]
    ldp x2, x3, [x0, OF_INTS + 16]
    ldp x4, x5, [x0, OF_INTS + 32]
    ldp x6, x7, [x0, OF_INTS + 48]
    ldp x0, x1, [x0, OF_INTS]
    blr x16
whet_returned:
    adrp x9, whet_current
    ldr x9, [x9, :lo12:whet_current]
    mov x10, sp
    str x10, [x9, OF_SP_AFTER]
    ldr x10, [x9, OF_OWN_SP]
    mov sp, x10
    str x0, [x9, OF_RETURNED]
    str d0, [x9, OF_RETURNED_FLOAT]
    str xzr, [x9, OF_FLAGS]
    str xzr, [x9, OF_X87]
    stp x19, x20, [x9, OF_AFTER]
    stp x21, x22, [x9, OF_AFTER + 16]
    stp x23, x24, [x9, OF_AFTER + 32]
    stp x25, x26, [x9, OF_AFTER + 48]
    stp x27, x28, [x9, OF_AFTER + 64]
    str x29, [x9, OF_AFTER + 80]
    .irp number, 8, 9, 10, 11, 12, 13, 14, 15
    str d\number, [x9, OF_AFTER + 88 + 8 * (\number - 8)]
    .endr
    mrs x10, fpcr
    str x10, [x9, OF_CONTROL]
    msr fpcr, xzr
    ldp x19, x20, [sp, 16]
    ldp x21, x22, [sp, 32]
    ldp x23, x24, [sp, 48]
    ldp x25, x26, [sp, 64]
    ldp x27, x28, [sp, 80]
    ldp d8, d9, [sp, 96]
    ldp d10, d11, [sp, 112]
    ldp d12, d13, [sp, 128]
    ldp d14, d15, [sp, 144]
    ldp x29, x30, [sp], 160
    ret
    .size whet_call, . - whet_call
    .section .note.GNU-stack, "", %progbits
