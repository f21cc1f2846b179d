// Smooths a map of heights and marks its peaks.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using Grid = std::vector<long>;

// The best of each window of 2 * reach + 1 values of a line, by a queue of values that may still become the best.
template <class Better>
static void slide(const long *from, long *to, int count, int stride, int reach, std::vector<int> &queue, Better better) {
    int head = 0, tail = 0, next = 0;
    for (int at = 0; at < count; at++) {
        for (; next < count && next <= at + reach; next++) {
            while (tail > head && !better(from[queue[tail - 1] * stride], from[next * stride])) {
                tail--;
            }
            queue[tail++] = next;
        }
        while (queue[head] < at - reach) {
            head++;
        }
        to[at * stride] = from[queue[head] * stride];
    }
}

template <class Better> static Grid best(const Grid &map, int rows, int cols, int reach, Better better) {
    Grid half(map.size()), whole(map.size());
    std::vector<int> queue(std::max(rows, cols) + 1);
    for (int r = 0; r < rows; r++) {
        slide(&map[(size_t)r * cols], &half[(size_t)r * cols], cols, 1, reach, queue, better);
    }
    for (int c = 0; c < cols; c++) {
        slide(&half[c], &whole[c], rows, cols, reach, queue, better);
    }
    return whole;
}

static bool nextNumber(const char *&at, long &value) {
    char *end;
    value = std::strtol(at, &end, 10);
    bool found = end != at;
    at = end;
    return found;
}

int main() {
    std::string text;
    char block[1 << 16];
    size_t got;
    while ((got = std::fread(block, 1, sizeof block, stdin)) > 0) {
        text.append(block, got);
    }
    const char *at = text.c_str();
    long rows = 0, cols = 0, reach = 0;
    nextNumber(at, rows);
    nextNumber(at, cols);
    nextNumber(at, reach);
    Grid map((size_t)rows * cols), sums((size_t)(rows + 1) * (cols + 1), 0);
    for (long &height : map) {
        nextNumber(at, height);
    }
    std::string out;
    int raised = 0;
    std::string peaks;
    if (!map.empty()) {
        for (int r = 0; r < rows; r++) {
            long sum = 0;
            for (int c = 0; c < cols; c++) {
                sum += map[(size_t)r * cols + c];
                sums[(size_t)(r + 1) * (cols + 1) + c + 1] = sums[(size_t)r * (cols + 1) + c + 1] + sum;
            }
        }
        Grid high = best(map, rows, cols, reach, [](long a, long b) { return a > b; });
        Grid low = best(map, rows, cols, reach, [](long a, long b) { return a < b; });
        for (int r = 0; r < rows; r++) {
            long top = std::max(0L, r - reach), bottom = std::min(rows, r + reach + 1);
            for (int c = 0; c < cols; c++) {
                long left = std::max(0L, c - reach), right = std::min(cols, c + reach + 1);
                size_t upper = (size_t)top * (cols + 1), lower = (size_t)bottom * (cols + 1);
                long sum = sums[lower + right] - sums[lower + left] - sums[upper + right] + sums[upper + left];
                long count = (bottom - top) * (right - left), cell = (size_t)r * cols + c;
                if (c > 0) {
                    out += ' ';
                }
                out += std::to_string(sum >= 0 ? sum / count : -((-sum + count - 1) / count));
                if (2 * map[cell] > low[cell] + high[cell]) {
                    raised++;
                    out += '*';
                }
                if (map[cell] == high[cell]) {
                    int equal = 0;
                    for (long i = top; i < bottom && equal < 2; i++) {
                        const long *row = &map[(size_t)i * cols];
                        equal += std::count(row + left, row + right, map[cell]);
                    }
                    if (equal == 1) {
                        peaks += " (" + std::to_string(r) + "," + std::to_string(c) + ")";
                    }
                }
            }
            out += '\n';
        }
    } else {
        out.append(rows, '\n');
    }
    out += std::to_string(raised) + " raised, peaks:" + peaks + "\n";
    std::fwrite(out.data(), 1, out.size(), stdout);
    return 0;
}
