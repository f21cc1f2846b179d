#include "count.h"

int64_t evens_met;
