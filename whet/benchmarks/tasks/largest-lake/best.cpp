// Finds the lakes of a map: cells lie in one array with a border of land, and are emptied once they were seen.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

int main() {
    std::ios::sync_with_stdio(false);
    std::cin.tie(nullptr);
    int height, width;
    std::cin >> height >> width;
    const int span = width + 2;
    std::vector<char> map((size_t)(height + 2) * span, 0), seen(map.size(), 0);
    std::string row;
    for (int r = 0; r < height; r++) {
        std::cin >> row;
        for (int c = 0; c < std::min<int>(width, row.size()); c++) {
            map[(size_t)(r + 1) * span + c + 1] = row[c] == '~';
        }
    }
    const int steps[] = {-span, span, -1, 1};
    int lakes = 0, largest = 0, longest = 0;
    std::vector<int> waiting;
    std::string out;
    for (int start = 0; start < (int)map.size(); start++) {
        if (!map[start] || seen[start]) {
            continue;
        }
        lakes++;
        int size = 0, shore = 0;
        waiting.push_back(start);
        seen[start] = 1;
        while (!waiting.empty()) {
            int cell = waiting.back();
            waiting.pop_back();
            size++;
            for (int step : steps) {
                int next = cell + step;
                if (!map[next]) {
                    shore++;
                } else if (!seen[next]) {
                    seen[next] = 1;
                    waiting.push_back(next);
                }
            }
        }
        largest = std::max(largest, size);
        longest = std::max(longest, shore);
        out += "lake " + std::to_string(lakes) + ": " + std::to_string(size) + " cells, shore " + std::to_string(shore) + "\n";
    }
    out += std::to_string(lakes) + " lakes, largest " + std::to_string(largest) + ", longest shore " + std::to_string(longest) + "\n";
    std::fwrite(out.data(), 1, out.size(), stdout);
    return 0;
}
