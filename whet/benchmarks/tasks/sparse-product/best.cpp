// Multiplies two sparse matrices of whole numbers.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

struct Entry {
    int row, col;
    long value;
};

// Entries in the order of their rows, and where each row starts.
struct Rows {
    std::vector<int> starts, cols;
    std::vector<long> values;
};

static Rows readRows(const char *&at, int rows) {
    auto number = [&at] {
        char *end;
        long value = std::strtol(at, &end, 10);
        at = end;
        return value;
    };
    std::vector<Entry> entries(number());
    Rows found{std::vector<int>(rows + 1, 0), std::vector<int>(entries.size()), std::vector<long>(entries.size())};
    for (Entry &entry : entries) {
        entry.row = number();
        entry.col = number();
        entry.value = number();
        found.starts[entry.row + 1]++;
    }
    for (int row = 0; row < rows; row++) {
        found.starts[row + 1] += found.starts[row];
    }
    std::vector<int> next(found.starts.begin(), found.starts.end() - 1);
    for (const Entry &entry : entries) {
        int place = next[entry.row]++;
        found.cols[place] = entry.col;
        found.values[place] = entry.value;
    }
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
    long sizes[3];
    for (long &size : sizes) {
        char *end;
        size = std::strtol(at, &end, 10);
        at = end;
    }
    Rows left = readRows(at, sizes[0]), right = readRows(at, sizes[1]);
    std::vector<long> sums(sizes[2], 0);
    std::vector<char> seen(sizes[2], 0);
    std::vector<int> touched;
    std::string out;
    long filled = 0, greatest = 0;
    for (int row = 0; row < sizes[0]; row++) {
        touched.clear();
        for (int i = left.starts[row]; i < left.starts[row + 1]; i++) {
            for (int j = right.starts[left.cols[i]]; j < right.starts[left.cols[i] + 1]; j++) {
                int col = right.cols[j];
                if (!seen[col]) {
                    seen[col] = 1;
                    touched.push_back(col);
                }
                sums[col] += left.values[i] * right.values[j];
            }
        }
        std::sort(touched.begin(), touched.end());
        bool any = false;
        for (int col : touched) {
            long value = sums[col];
            sums[col] = 0;
            seen[col] = 0;
            if (value == 0) {
                continue;
            }
            if (!any) {
                out += std::to_string(row) + ":";
                any = true;
            }
            greatest = filled == 0 ? value : std::max(greatest, value);
            filled++;
            out += " " + std::to_string(col) + "=" + std::to_string(value);
        }
        if (any) {
            out += '\n';
        }
    }
    out += std::to_string(filled) + " values, greatest " + std::to_string(greatest) + "\n";
    std::fwrite(out.data(), 1, out.size(), stdout);
    return 0;
}
