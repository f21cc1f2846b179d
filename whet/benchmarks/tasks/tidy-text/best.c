/* Tidies text, a whole block of input at a time. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int number = 0;
    while ((length = getline(&line, &room, stdin)) > 0) {
        int letters = 0, digits = 0;
        const char *end = memchr(line, '\n', length);
        const char *nul = memchr(line, '\0', length);
        end = end != NULL ? end : line + length;
        end = nul != NULL && nul < end ? nul : end;
        char *to = line;
        for (const char *from = line; from < end; from++) {
            char c = *from;
            if (c >= 'A' && c <= 'Z') {
                c += 'a' - 'A';
            }
            if (c >= 'a' && c <= 'z') {
                letters++;
            } else if (c >= '0' && c <= '9') {
                digits++;
            } else if (c == '\t' || c == ' ') {
                if (to == line || to[-1] == ' ') {
                    continue;
                }
                c = ' ';
            }
            *to++ = c;
        }
        printf("%d: ", ++number);
        fwrite(line, 1, to - line, stdout);
        printf(" (%d letters, %d digits)\n", letters, digits);
    }
    free(line);
    return 0;
}
