#include <stdint.h>

static uint64_t dirty[4];
static int32_t writes[4][64];

uint32_t is_dirty(uint32_t disk, uint32_t page) { return (uint32_t)(dirty[disk] >> page & 1); }

int32_t writes_to(uint32_t disk, uint32_t page) { return writes[disk][page]; }

uint64_t write_out(const uint8_t *data, int64_t n, uint32_t disk, uint32_t page) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum = (sum * 31 + data[i]) % 1000003;
        dirty[disk] |= (uint64_t)1 << page;
    }
    writes[disk][page]++;
    return sum;
}
