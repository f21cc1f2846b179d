// Finds the lakes of a map.
//
// Input: rows and columns, then the map: '~' is water, '.' is land, and so is what a short row lacks. Output: the
// number of lakes (water joined along rows and columns), the size of the largest, and the longest shore (sides of its
// cells that touch land or the edge).
#include <algorithm>
#include <iostream>
#include <queue>
#include <string>
#include <utility>
#include <vector>

bool isWater(std::vector<std::string> rows, int r, int c) {
    if (r < 0 || c < 0 || r >= (int)rows.size() || c >= (int)rows[r].size()) {
        return false;
    }
    return rows[r][c] == '~';
}

std::vector<std::pair<int, int>> neighbours(std::pair<int, int> cell) {
    std::vector<std::pair<int, int>> found;
    found.push_back({cell.first - 1, cell.second});
    found.push_back({cell.first + 1, cell.second});
    found.push_back({cell.first, cell.second - 1});
    found.push_back({cell.first, cell.second + 1});
    return found;
}

int main() {
    int height, width;
    std::cin >> height >> width;
    std::vector<std::string> rows(height);
    for (int r = 0; r < height; r++) {
        std::cin >> rows[r];
    }

    std::vector<std::vector<bool>> seen(height, std::vector<bool>(width, false));
    int lakes = 0, largest = 0, longest = 0;
    for (int r = 0; r < height; r++) {
        for (int c = 0; c < width; c++) {
            if (seen[r][c] || !isWater(rows, r, c)) {
                continue;
            }
            lakes++;
            int size = 0, shore = 0;
            std::queue<std::pair<int, int>> waiting;
            waiting.push({r, c});
            seen[r][c] = true;
            while (!waiting.empty()) {
                std::pair<int, int> cell = waiting.front();
                waiting.pop();
                size++;
                for (std::pair<int, int> next : neighbours(cell)) {
                    if (!isWater(rows, next.first, next.second)) {
                        shore++;
                    } else if (!seen[next.first][next.second]) {
                        seen[next.first][next.second] = true;
                        waiting.push(next);
                    }
                }
            }
            largest = std::max(largest, size);
            longest = std::max(longest, shore);
            std::cout << "lake " << lakes << ": " << size << " cells, shore " << shore << std::endl;
        }
    }
    std::cout << lakes << " lakes, largest " << largest << ", longest shore " << longest << std::endl;
    return 0;
}
