#include <stdint.h>

/* The first place of a word in a text, or -1; an empty word is at 0. */
int64_t find_text(const uint8_t *text, int64_t n, const uint8_t *word, int64_t m) {
    for (int64_t i = 0; i + m <= n; i++) {
        int64_t k = 0;
        while (k < m && text[i + k] == word[k]) k++;
        if (k == m) return i;
    }
    return -1;
}
