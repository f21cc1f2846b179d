#ifndef RING_H
#define RING_H
#include <stdint.h>

#define RING 100
extern int32_t ring_at;

#endif
