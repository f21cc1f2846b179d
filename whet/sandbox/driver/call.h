/* What the driver and the trampolines agree on: where each field of `struct call` lies. */
#ifndef WHET_CALL_H
#define WHET_CALL_H

#define INTS 8
#define FLOATS 8
#define STACKED 16
#define CANARIES 24
#define FRAME 8
#define VECTORS 32
#define VECTOR 64
#define SCRATCH 8

#define OF_INTS 0       /* arguments in integer registers; registers that hold none get what lies there */
#define OF_SCRATCH 64   /* what other registers hold that no caller expects back */
#define OF_BEFORE 128   /* what registers hold on entry that a callee has to keep */
#define OF_AFTER 320    /* the same when it has returned */
#define OF_SP 512       /* stack pointer before the call */
#define OF_SP_AFTER 520
#define OF_RETURNED 528 /* in the first integer register */
#define OF_RETURNED_FLOAT 536
#define OF_FLAGS 544    /* direction flag, where there is one; else changes of registers that nobody may change */
#define OF_CONTROL 552  /* control bits of floats: rounding, flushing, masks */
#define OF_X87 560      /* control word, and tag word above it */
#define OF_ENTRY_FLAGS 568 /* conditions that the function meets, and on x86-64 whether each instruction traps */
#define OF_LEVEL 576    /* of vectors: 0 is 16 bytes each, 1 is 32, 2 is 64 and masks */
#define OF_OWN_SP 584   /* the driver's own stack pointer during the call */
#define OF_VECTORS 640  /* the first ones hold arguments in their lowest bytes */

#ifndef __ASSEMBLER__
#include <stdint.h>

struct call {
    uint64_t ints[INTS];
    uint64_t scratch[SCRATCH];
    uint64_t before[CANARIES];
    uint64_t after[CANARIES];
    uint64_t sp;
    uint64_t sp_after;
    uint64_t returned;
    uint64_t returned_float;
    uint64_t flags;
    uint64_t control;
    uint64_t x87;
    uint64_t entry_flags;
    uint64_t level;
    uint64_t own_sp;
    uint64_t padding[6];
    uint8_t vectors[VECTORS][VECTOR];
};

/* Calls what `whet_target` points to. */
void whet_call(struct call *call);
/* Where it returns to. */
extern const char whet_returned[];

extern void *whet_target;
extern struct call *whet_current;
#endif
#endif
