// Finds the longest passage that occurs more than once in a text.
#include <algorithm>
#include <cctype>
#include <iostream>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

static std::string readText() {
    std::string text, line;
    while (std::getline(std::cin, line)) {
        for (char c : line) {
            if (!isspace((unsigned char)c)) {
                text += c;
            } else if (!text.empty() && text.back() != ' ') {
                text += ' ';
            }
        }
        if (!text.empty() && text.back() != ' ') text += ' ';
    }
    if (!text.empty()) text.pop_back();
    return text;
}

int main() {
    std::ios::sync_with_stdio(false);
    const std::string text = readText();
    const size_t n = text.size();
    std::vector<unsigned> suffixes(n), rank(n), shared(n, 0);
    std::iota(suffixes.begin(), suffixes.end(), 0u);
    const std::string_view view = text;
    std::sort(suffixes.begin(), suffixes.end(), [&](unsigned a, unsigned b) { return view.substr(a) < view.substr(b); });
    for (size_t i = 0; i < n; i++) rank[suffixes[i]] = i;
    size_t length = 0;
    for (size_t i = 0; i < n; i++) {
        if (rank[i] == 0) {
            length = 0;
            continue;
        }
        size_t j = suffixes[rank[i] - 1];
        while (i + length < n && j + length < n && text[i + length] == text[j + length]) length++;
        shared[rank[i]] = length;
        if (length) length--;
    }
    const size_t best = n ? *std::max_element(shared.begin(), shared.end()) : 0;
    if (best == 0) {
        std::cout << "nothing occurs twice\n";
        return 0;
    }
    size_t where = n, count = 0;
    for (size_t r = 1; r < n;) {
        if (shared[r] < best) {
            r++;
            continue;
        }
        size_t first = suffixes[r - 1], group = 1;
        for (; r < n && shared[r] == best; r++) {
            first = std::min<size_t>(first, suffixes[r]);
            group++;
        }
        if (first < where) {
            where = first;
            count = group;
        }
    }
    std::cout << best << " letters, " << count << " times, first at " << where << '\n' << view.substr(where, best) << '\n';
    return 0;
}
