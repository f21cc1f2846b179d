/* Fills in the variables of a template: texts know their length and grow by halves, names are found by hashing. */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
    char *at;
    size_t length;
    size_t room;
};

struct entry {
    char *name;
    size_t length;
    struct text text;
    int count;
    struct entry *next;  /* in the order of input */
    struct entry *chain; /* with the same slot */
};

#define SLOTS 4096

struct table {
    struct entry *slots[SLOTS];
    struct entry *first;
    struct entry *last;
};

static struct table variables, unknown;

static void add(struct text *text, const char *more, size_t length) {
    if (length == 0) {
        return;
    }
    if (text->length + length > text->room) {
        text->room = (text->length + length) * 3 / 2 + 64;
        text->at = realloc(text->at, text->room);
    }
    memcpy(text->at + text->length, more, length);
    text->length += length;
}

static struct entry **slot(struct table *table, const char *name, size_t length) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    }
    return &table->slots[(hash ^ (hash >> 16)) % SLOTS];
}

static struct entry *find(struct table *table, const char *name, size_t length) {
    for (struct entry *entry = *slot(table, name, length); entry != NULL; entry = entry->chain) {
        if (entry->length == length && memcmp(entry->name, name, length) == 0) {
            return entry;
        }
    }
    return NULL;
}

static struct entry *find_or_append(struct table *table, const char *name, size_t length) {
    struct entry *found = find(table, name, length);
    if (found != NULL) {
        return found;
    }
    found = calloc(1, sizeof *found);
    found->name = malloc(length + 1);
    memcpy(found->name, name, length);
    found->length = length;
    struct entry **place = slot(table, name, length);
    found->chain = *place;
    *place = found;
    if (table->last != NULL) {
        table->last->next = found;
    } else {
        table->first = found;
    }
    table->last = found;
    return found;
}

/* Adds a text, whose end lies at `end`, with its variables filled in. */
static void expand(struct text *result, const char *text, const char *end) {
    while (text < end) {
        const char *dollar = memchr(text, '$', end - text);
        if (dollar == NULL) {
            break;
        }
        add(result, text, dollar - text);
        text = dollar;
        char next = text + 1 < end ? text[1] : '\0';
        const char *brace = next == '{' ? memchr(text, '}', end - text) : NULL;
        if (next == '$') {
            add(result, "$", 1);
            text += 2;
        } else if (brace != NULL) {
            const char *name = text + 2;
            const char *fallback = memchr(name, '|', brace - name);
            size_t length = (fallback != NULL ? fallback : brace) - name;
            struct entry *variable = find(&variables, name, length);
            if (variable != NULL) {
                add(result, variable->text.at, variable->text.length);
            } else if (fallback != NULL) {
                add(result, fallback + 1, brace - fallback - 1);
            } else {
                find_or_append(&unknown, name, length)->count++;
            }
            text = brace + 1;
        } else {
            add(result, "$", 1);
            text++;
        }
    }
    add(result, text, end - text);
}

static void define(const char *line, const char *line_end) {
    const char *sign = memchr(line, '=', line_end - line);
    if (sign == NULL) {
        return;
    }
    const char *end = sign;
    while (end > line && isspace((unsigned char)end[-1])) {
        end--;
    }
    const char *value = sign + 1;
    while (value < line_end && isspace((unsigned char)*value)) {
        value++;
    }
    struct text expanded = {0};
    expand(&expanded, value, line_end);
    struct entry *variable = find_or_append(&variables, line, end - line);
    free(variable->text.at);
    variable->text = expanded;
}

int main(void) {
    struct text input = {0}, result = {0};
    size_t got;
    do {
        add(&input, "", 0);
        if (input.room - input.length < 65536) {
            input.room = input.room * 3 / 2 + 65536;
            input.at = realloc(input.at, input.room);
        }
        got = fread(input.at + input.length, 1, input.room - input.length, stdin);
        input.length += got;
    } while (got > 0);
    const char *at = input.at, *end = input.at + input.length;
    while (at < end) {
        const char *line_end = memchr(at, '\n', end - at);
        line_end = line_end != NULL ? line_end : end;
        int ends_here = line_end - at == 3 && memcmp(at, "---", 3) == 0;
        if (!ends_here) {
            define(at, line_end);
        }
        at = line_end < end ? line_end + 1 : end;
        if (ends_here) {
            expand(&result, at, end);
            break;
        }
    }
    add(&result, "\n", 1);
    fwrite(result.at, 1, result.length, stdout);
    for (struct entry *entry = unknown.first; entry != NULL; entry = entry->next) {
        printf("unknown: %.*s (%d)\n", (int)entry->length, entry->name, entry->count);
    }
    return 0;
}
