#include <stdint.h>

/* Sorts each row of eight. */
void sort_rows(int32_t *rows, int64_t n) {
    for (int64_t r = 0; r < n; r++) {
        int32_t *row = rows + 8 * r;
        for (int i = 1; i < 8; i++) {
            int32_t value = row[i];
            int k = i;
            while (k > 0 && row[k - 1] > value) {
                row[k] = row[k - 1];
                k--;
            }
            row[k] = value;
        }
    }
}
