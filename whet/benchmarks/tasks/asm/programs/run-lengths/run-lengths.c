#include <stdio.h>
#include <unistd.h>

static unsigned char block[4096];

static void tell(long count, int byte) {
    if (byte == '\n') {
        while (count-- > 0) putchar('\n');
    } else if (count > 0) {
        printf("%ld%c", count, byte);
    }
}

int main(void) {
    long count = 0, runs = 0;
    int last = -1;
    for (;;) {
        long got = read(0, block, sizeof block);
        if (got <= 0) break;
        for (long i = 0; i < got; i++) {
            if (block[i] == last) {
                count++;
                continue;
            }
            tell(count, last);
            last = block[i];
            count = 1;
            runs++;
        }
    }
    tell(count, last);
    printf("\n%ld runs\n", runs);
    return runs == 0;
}
