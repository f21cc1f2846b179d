/* Tidies text: letters become small, tabs and other blanks become single spaces, digits are counted.
 *
 * Reads lines of any length from stdin and writes each tidied line with the number of its letters and digits.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void lower(char *line) {
    for (size_t i = 0; i < strlen(line); i++) {
        line[i] = (char)tolower((unsigned char)line[i]);
    }
}

static void count(char *line, int *letters, int *digits) {
    for (size_t i = 0; i < strlen(line); i++) {
        if (isalpha((unsigned char)line[i])) {
            ++*letters;
        } else if (isdigit((unsigned char)line[i])) {
            ++*digits;
        }
        if (line[i] == '\t') {
            line[i] = ' ';
        }
    }
}

static void squeeze(char *line) {
    size_t to = 0;
    for (size_t from = 0; line[from] != '\0'; from++) {
        if (line[from] != ' ' || (to > 0 && line[to - 1] != ' ')) {
            line[to++] = line[from];
        }
    }
    line[to] = '\0';
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    int number = 0;
    while (getline(&line, &room, stdin) > 0) {
        int letters = 0, digits = 0;
        line[strcspn(line, "\n")] = '\0';
        lower(line);
        count(line, &letters, &digits);
        squeeze(line);
        printf("%d: %s (%d letters, %d digits)\n", ++number, line, letters, digits);
    }
    free(line);
    return 0;
}
