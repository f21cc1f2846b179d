/* What comes in and what goes out: little endian words, structure after structure. */
#ifndef WHET_WIRE_H
#define WHET_WIRE_H

#include "call.h"

struct header {
    uint64_t cases;
    uint64_t regions;
    uint64_t most_steps; /* in all calls together */
    uint64_t milliseconds; /* of CPU time that one call may take */
    uint64_t returned_mask;
    uint64_t float_mask;
    uint64_t closing; /* is written when all is done */
    uint8_t vectors[VECTORS][VECTOR];
};

/* Memory between guards; as many of them as the header says. */
struct room {
    uint64_t bytes; /* whole pages */
    uint64_t writable;
};

struct given {
    uint64_t nonce;
    uint64_t step;
    uint64_t fill; /* the byte that memory holds around the buffers */
    uint64_t stacked;
    uint64_t ints[INTS];
    uint64_t floats[FLOATS];
    uint64_t stack[STACKED];
    uint8_t int_rooms[INTS]; /* 0 for a number, else a word is an offset in the room with this number, from 1 */
    uint8_t stack_rooms[STACKED];
    uint64_t scratch[SCRATCH];
    uint64_t before[CANARIES];
    uint64_t frame[FRAME]; /* what lies above the arguments on the stack */
};

/* After `given`, one for each room, and after it the bytes, padded to a word; those left out at the end are the fill. */
struct content {
    uint64_t offset;
    uint64_t length;
    uint64_t held; /* bytes that follow */
};

struct greeting {
    uint64_t subject; /* its address, and those of the code that it belongs to */
    uint64_t start;
    uint64_t end;
};

struct record {
    uint64_t nonce;
    uint64_t status; /* 0, or the signal that ended it: then `struct fault` */
    uint64_t steps;
    uint64_t returned;
    uint64_t returned_float;
    uint64_t sp; /* how far off after the call */
    uint64_t flags;
    uint64_t control;
    uint64_t x87;
    uint64_t externs; /* 1: called with a misaligned stack, 2: with the direction flag set */
    uint64_t after[CANARIES];
    uint64_t frame[FRAME];
};

#define STEPS_HIDDEN UINT64_MAX    /* the function turned the trap flag off */
#define STEPS_CUT (UINT64_MAX - 1) /* there were too many */

/* After `record`, one for each writable room, and after it what lies there now, padded to a word. */
struct written {
    uint64_t stray; /* offset in the room of a changed byte around the buffers; all ones for none */
    uint64_t length;
};

#define NO_ROOM 255
#define STACK_ROOM 254

struct fault {
    uint64_t nonce;
    uint64_t status;
    uint64_t steps;
    uint64_t pc; /* offset from the subject's first instruction */
    uint64_t inside; /* whether that is code of the subject's */
    uint64_t sp; /* offset from the stack pointer before the call */
    uint64_t room;
    uint64_t offset; /* in the room, or from the stack pointer before the call; an address where there is no room */
    uint64_t access;
    uint64_t code; /* si_code */
    uint8_t instruction[16];
};
#define READS 0
#define WRITES 1
#define EXECUTES 2
#define TOUCHES 3
#endif
