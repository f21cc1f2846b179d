/* Answers which route packets take.
 *
 * Input: lines `route ADDRESS/LENGTH NAME [COST]` and `packet ADDRESS`. A packet takes the route with the longest prefix
 * that its address lies in; of equally long ones the cheapest (cost 1 unless given), then the one given first. Routes are
 * valid for packets after them. A route that is given again (same prefix, same name) gets the new cost. Output: the name
 * for each packet, then how often each route was taken, in their order.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROUTES 4096

struct route {
    char prefix[32];
    char name[32];
    int cost;
    int taken;
};

static struct route routes[MAX_ROUTES];
static int route_count = 0;

/* Reads an address such as 10.0.0.1; returns 0 where it is none. */
static int parse_address(const char *text, unsigned long *address) {
    unsigned int a, b, c, d;
    char more;
    if (sscanf(text, "%3u.%3u.%3u.%3u%c", &a, &b, &c, &d, &more) != 4 || a > 255 || b > 255 || c > 255 || d > 255) {
        return 0;
    }
    *address = ((unsigned long)a << 24) | (b << 16) | (c << 8) | d;
    return 1;
}

/* Reads a prefix such as 10.0.0.0/8; bits of the address behind the prefix do not count. */
static int parse_prefix(const char *text, unsigned long *address, int *length) {
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

static unsigned long mask_of(int length) {
    unsigned long mask = 0;
    for (int bit = 0; bit < length; bit++) {
        mask |= 1UL << (31 - bit);
    }
    return mask;
}

/* Returns whether an address lies in a prefix. */
static int matches(unsigned long address, const char *prefix) {
    unsigned long start;
    int length;
    parse_prefix(prefix, &start, &length);
    return (address & mask_of(length)) == (start & mask_of(length));
}

static int same_prefix(const char *one, const char *other) {
    unsigned long one_start, other_start;
    int one_length, other_length;
    parse_prefix(one, &one_start, &one_length);
    parse_prefix(other, &other_start, &other_length);
    return one_length == other_length && matches(one_start, other);
}

static int length_of(const char *prefix) {
    return atoi(strchr(prefix, '/') + 1);
}

static struct route *find_route(unsigned long address) {
    struct route *best = NULL;
    for (int i = 0; i < route_count; i++) {
        struct route *route = &routes[i];
        if (!matches(address, route->prefix)) {
            continue;
        }
        if (best == NULL || length_of(route->prefix) > length_of(best->prefix) ||
            (length_of(route->prefix) == length_of(best->prefix) && route->cost < best->cost)) {
            best = route;
        }
    }
    return best;
}

static void add_route(const char *prefix, const char *name, int cost) {
    for (int i = 0; i < route_count; i++) {
        if (strcmp(routes[i].name, name) == 0 && same_prefix(routes[i].prefix, prefix)) {
            routes[i].cost = cost;
            return;
        }
    }
    if (route_count == MAX_ROUTES) {
        printf("too many routes\n");
        return;
    }
    strcpy(routes[route_count].prefix, prefix);
    strcpy(routes[route_count].name, name);
    routes[route_count].cost = cost;
    routes[route_count].taken = 0;
    route_count++;
}

int main(void) {
    char line[256], first[32], second[32];
    while (fgets(line, sizeof line, stdin) != NULL) {
        unsigned long address;
        int length, cost = 1;
        if (sscanf(line, " route %31s %31s %d", first, second, &cost) >= 2 && parse_prefix(first, &address, &length)) {
            add_route(first, second, cost);
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
