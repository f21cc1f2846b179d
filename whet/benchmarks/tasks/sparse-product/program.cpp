// Multiplies two sparse matrices of whole numbers.
//
// Input: rows, inner size and columns; then each matrix as the number of its entries and their row, column and value (entries at
// the same place add up). Output: a line for each row of the product that has something but zeros: the row and its columns with
// values; then how many values are not zero, and the greatest of them.
#include <iostream>
#include <map>
#include <utility>

using Matrix = std::map<std::pair<int, int>, long>;

static Matrix readMatrix() {
    Matrix matrix;
    int count = 0;
    std::cin >> count;
    for (int i = 0; i < count; i++) {
        int row, col;
        long value;
        std::cin >> row >> col >> value;
        matrix[std::make_pair(row, col)] += value;
    }
    return matrix;
}

static long entry(const Matrix &matrix, int row, int col) {
    Matrix::const_iterator found = matrix.find(std::make_pair(row, col));
    if (found == matrix.end()) {
        return 0;
    }
    return found->second;
}

static Matrix multiply(const Matrix &left, const Matrix &right) {
    Matrix product;
    for (const auto &a : left) {
        for (const auto &b : right) {
            if (a.first.second == b.first.first) {
                std::pair<int, int> place(a.first.first, b.first.second);
                product[place] = entry(product, place.first, place.second) + a.second * b.second;
            }
        }
    }
    return product;
}

int main() {
    int rows = 0, inner = 0, cols = 0;
    std::cin >> rows >> inner >> cols;
    Matrix left = readMatrix();
    Matrix right = readMatrix();
    Matrix product = multiply(left, right);
    int filled = 0;
    long greatest = 0;
    for (int row = 0; row < rows; row++) {
        bool any = false;
        for (int col = 0; col < cols; col++) {
            long value = entry(product, row, col);
            if (value == 0) {
                continue;
            }
            if (!any) {
                std::cout << row << ":";
            }
            any = true;
            if (filled == 0 || value > greatest) {
                greatest = value;
            }
            filled++;
            std::cout << " " << col << "=" << value;
        }
        if (any) {
            std::cout << std::endl;
        }
    }
    std::cout << filled << " values, greatest " << greatest << std::endl;
    return 0;
}
