// Smooths a map of heights and marks its peaks.
//
// Input: rows, columns and reach, then the heights, whole numbers. Output: the map of the mean heights of all cells that
// are at most so many rows and columns away (rounded down, cells beyond the edge left out), with a '*' behind cells that are
// higher than half of the way from the lowest to the highest of these cells; then the number of such cells and the
// cells that are the single highest of theirs.
#include <climits>
#include <iostream>
#include <vector>

struct Cell {
    int row;
    int col;
};

class Map {
public:
    Map(int rows, int cols) : rows_(rows), cols_(cols), heights_(rows, std::vector<long>(cols, 0)) {}

    int rows() const { return rows_; }
    int cols() const { return cols_; }
    long get(int r, int c) const { return heights_.at(r).at(c); }
    void set(int r, int c, long height) { heights_.at(r).at(c) = height; }
    bool inside(int r, int c) const { return r >= 0 && r < rows_ && c >= 0 && c < cols_; }

    std::vector<long> around(int r, int c, int reach) const {
        std::vector<long> found;
        for (int dr = -reach; dr <= reach; dr++) {
            for (int dc = -reach; dc <= reach; dc++) {
                if (inside(r + dr, c + dc)) {
                    found.push_back(get(r + dr, c + dc));
                }
            }
        }
        return found;
    }

private:
    int rows_, cols_;
    std::vector<std::vector<long>> heights_;
};

static long mean(const std::vector<long> &values) {
    long sum = 0;
    for (long value : values) {
        sum += value;
    }
    long count = values.size();
    return sum >= 0 ? sum / count : -((-sum + count - 1) / count);
}

static long highest(const std::vector<long> &values) {
    long best = LONG_MIN;
    for (long value : values) {
        if (value > best) {
            best = value;
        }
    }
    return best;
}

static long lowest(const std::vector<long> &values) {
    long best = LONG_MAX;
    for (long value : values) {
        if (value < best) {
            best = value;
        }
    }
    return best;
}

int main() {
    int rows, cols, reach;
    std::cin >> rows >> cols >> reach;
    Map map(rows, cols);
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < cols; c++) {
            long height;
            std::cin >> height;
            map.set(r, c, height);
        }
    }

    int raised = 0;
    std::vector<Cell> peaks;
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < cols; c++) {
            std::vector<long> near = map.around(r, c, reach);
            std::cout << (c > 0 ? " " : "") << mean(near);
            if (2 * map.get(r, c) > lowest(near) + highest(near)) {
                raised++;
                std::cout << "*";
            }
            int equal = 0;
            for (long height : map.around(r, c, reach)) {
                if (height == map.get(r, c)) {
                    equal++;
                }
            }
            if (map.get(r, c) == highest(near) && equal == 1) {
                peaks.push_back({r, c});
            }
        }
        std::cout << std::endl;
    }
    std::cout << raised << " raised, peaks:";
    for (Cell peak : peaks) {
        std::cout << " (" << peak.row << "," << peak.col << ")";
    }
    std::cout << std::endl;
    return 0;
}
