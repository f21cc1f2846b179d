/* Answers which route packets take: prefixes are kept in one hash table a length. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROUTES 4096
#define SLOTS 16384

struct route {
    char prefix[32];
    char name[32];
    uint32_t start;
    int length;
    int cost;
    int taken;
    int next; /* the next route of the same prefix, in the order of input; -1 at the end */
};

static struct route routes[MAX_ROUTES];
static int route_count = 0;
static int slots[SLOTS]; /* the first route of a prefix, plus 1 */
static int per_length[33];

static int parse_address(const char *text, uint32_t *address) {
    unsigned int a, b, c, d;
    char more;
    if (sscanf(text, "%3u.%3u.%3u.%3u%c", &a, &b, &c, &d, &more) != 4 || a > 255 || b > 255 || c > 255 || d > 255) {
        return 0;
    }
    *address = ((uint32_t)a << 24) | (b << 16) | (c << 8) | d;
    return 1;
}

static int parse_prefix(const char *text, uint32_t *address, int *length) {
    char copy[32];
    char *slash;
    strcpy(copy, text);
    slash = strchr(copy, '/');
    if (slash == NULL || strlen(slash) < 2 || strspn(slash + 1, "0123456789") != strlen(slash + 1)) {
        return 0;
    }
    *slash = '\0';
    *length = atoi(slash + 1);
    return *length <= 32 && parse_address(copy, address);
}

static uint32_t mask_of(int length) {
    return length > 0 ? ~0u << (32 - length) : 0;
}

/* The slot of a prefix, or the empty one where it would stand. */
static int slot_of(uint32_t start, int length) {
    uint32_t hash = (start ^ ((uint32_t)length * 0x9e3779b9u)) * 0x85ebca6bu;
    int at = (hash ^ (hash >> 15)) % SLOTS;
    while (slots[at] != 0) {
        const struct route *route = &routes[slots[at] - 1];
        if (route->start == start && route->length == length) {
            break;
        }
        at = (at + 1) % SLOTS;
    }
    return at;
}

static struct route *find_route(uint32_t address) {
    for (int length = 32; length >= 0; length--) {
        if (per_length[length] == 0) {
            continue;
        }
        int i = slots[slot_of(address & mask_of(length), length)] - 1;
        if (i < 0) {
            continue;
        }
        struct route *best = &routes[i];
        for (i = best->next; i >= 0; i = routes[i].next) {
            if (routes[i].cost < best->cost) {
                best = &routes[i];
            }
        }
        return best;
    }
    return NULL;
}

static void add_route(const char *prefix, uint32_t start, int length, const char *name, int cost) {
    start &= mask_of(length);
    int *link = &slots[slot_of(start, length)];
    int i = *link - 1, last = -1;
    for (; i >= 0; i = routes[i].next) {
        if (strcmp(routes[i].name, name) == 0) {
            routes[i].cost = cost;
            return;
        }
        last = i;
    }
    if (route_count == MAX_ROUTES) {
        printf("too many routes\n");
        return;
    }
    struct route *route = &routes[route_count];
    strcpy(route->prefix, prefix);
    strcpy(route->name, name);
    route->start = start;
    route->length = length;
    route->cost = cost;
    route->next = -1;
    if (last >= 0) {
        routes[last].next = route_count;
    } else {
        *link = route_count + 1;
    }
    per_length[length]++;
    route_count++;
}

int main(void) {
    char line[256], first[32], second[32];
    while (fgets(line, sizeof line, stdin) != NULL) {
        uint32_t address;
        int length, cost = 1;
        if (sscanf(line, " route %31s %31s %d", first, second, &cost) >= 2 && parse_prefix(first, &address, &length)) {
            add_route(first, address, length, second, cost);
        } else if (sscanf(line, " packet %31s", first) == 1 && parse_address(first, &address)) {
            struct route *route = find_route(address);
            printf("%s %s\n", first, route == NULL ? "-" : route->name);
            if (route != NULL) {
                route->taken++;
            }
        } else if (strspn(line, " \t\r\n") != strlen(line)) {
            printf("what is %s", line);
            if (line[strlen(line) - 1] != '\n') {
                printf("\n");
            }
        }
    }
    for (int i = 0; i < route_count; i++) {
        printf("%s %s %d\n", routes[i].prefix, routes[i].name, routes[i].taken);
    }
    return 0;
}
