#include <stdint.h>

extern int64_t evens_met;
