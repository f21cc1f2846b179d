#include "ring.h"

int32_t ring_at;
