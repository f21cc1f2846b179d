/* Fills in the variables of a template.
 *
 * Input: lines `name = value` up to a line `---`, then the template. In values and template, `${name}` stands for the
 * value that the name has there (in a value: what was defined above it), `${name|text}` for the text where the name has
 * none, and `$$` for a dollar. A later definition of a name takes the place of the former. Output: the template with
 * all filled in, and after it which names were not known and how often.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    char *name;
    char *text;
    int count;
    struct entry *next;
};

static struct entry *variables = NULL;
static struct entry *unknown = NULL;

static char *copy(const char *text) {
    char *result = malloc(strlen(text) + 1);
    strcpy(result, text);
    return result;
}

static struct entry *find(struct entry *list, const char *name) {
    for (struct entry *entry = list; entry != NULL; entry = entry->next) {
        if (strcmp(entry->name, name) == 0) {
            return entry;
        }
    }
    return NULL;
}

/* Puts an entry at the end of a list. */
static struct entry *append(struct entry **list, const char *name) {
    struct entry *added = malloc(sizeof *added);
    added->name = copy(name);
    added->text = NULL;
    added->count = 0;
    added->next = NULL;
    while (*list != NULL) {
        list = &(*list)->next;
    }
    *list = added;
    return added;
}

static char *add_text(char *text, const char *more) {
    text = realloc(text, strlen(text) + strlen(more) + 1);
    strcat(text, more);
    return text;
}

static char *add_char(char *text, char c) {
    char more[2] = {c, '\0'};
    return add_text(text, more);
}

/* Returns the text with its variables filled in. */
static char *expand(const char *text) {
    char *result = copy("");
    for (size_t i = 0; i < strlen(text); i++) {
        if (text[i] == '$' && text[i + 1] == '$') {
            result = add_char(result, '$');
            i++;
        } else if (text[i] == '$' && text[i + 1] == '{' && strchr(text + i, '}') != NULL) {
            char *inside = copy(text + i + 2);
            *strchr(inside, '}') = '\0';
            i += strlen(inside) + 2;
            char *fallback = strchr(inside, '|');
            if (fallback != NULL) {
                *fallback++ = '\0';
            }
            struct entry *variable = find(variables, inside);
            if (variable != NULL) {
                result = add_text(result, variable->text);
            } else if (fallback != NULL) {
                result = add_text(result, fallback);
            } else {
                struct entry *missing = find(unknown, inside);
                if (missing == NULL) {
                    missing = append(&unknown, inside);
                }
                missing->count++;
            }
            free(inside);
        } else {
            result = add_char(result, text[i]);
        }
    }
    return result;
}

static void define(char *line) {
    char *sign = strchr(line, '=');
    if (sign == NULL) {
        return;
    }
    char *end = sign;
    while (end > line && isspace((unsigned char)end[-1])) {
        end--;
    }
    *end = '\0';
    char *value = sign + 1;
    while (isspace((unsigned char)*value)) {
        value++;
    }
    char *expanded = expand(value);
    struct entry *variable = find(variables, line);
    if (variable == NULL) {
        variable = append(&variables, line);
    }
    free(variable->text);
    variable->text = expanded;
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    int in_template = 0;
    char *template = copy("");
    while (getline(&line, &room, stdin) > 0) {
        if (in_template) {
            template = add_text(template, line);
            continue;
        }
        line[strcspn(line, "\n")] = '\0';
        if (strcmp(line, "---") == 0) {
            in_template = 1;
        } else {
            define(line);
        }
    }
    printf("%s\n", expand(template));
    for (struct entry *entry = unknown; entry != NULL; entry = entry->next) {
        printf("unknown: %s (%d)\n", entry->name, entry->count);
    }
    return 0;
}
