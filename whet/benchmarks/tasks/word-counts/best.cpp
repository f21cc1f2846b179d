// Counts words, then answers questions about them: hashing for words, one sorted vector for prefixes.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

struct Word {
    int count = 0;
    int first = -1;
};

int main() {
    std::ios::sync_with_stdio(false);
    std::cin.tie(nullptr);
    int n = 0;
    std::cin >> n;
    std::unordered_map<std::string, Word> words;
    words.reserve(n / 2);
    std::string word, kind, out;
    for (int i = 0; i < n; i++) {
        std::cin >> word;
        Word &known = words[word];
        if (known.count++ == 0) {
            known.first = i;
        }
    }
    std::vector<std::pair<std::string_view, int>> sorted; // distinct words with the number of all words before them
    std::vector<int> before;
    int q = 0;
    std::cin >> q;
    for (int i = 0; i < q; i++) {
        std::cin >> kind >> word;
        int answer;
        if (kind == "count" || kind == "first") {
            auto found = words.find(word);
            Word known = found == words.end() ? Word() : found->second;
            answer = kind == "count" ? known.count : known.first;
        } else {
            if (before.empty()) {
                for (const auto &entry : words) {
                    sorted.push_back({entry.first, entry.second.count});
                }
                std::sort(sorted.begin(), sorted.end());
                before.push_back(0);
                for (const auto &entry : sorted) {
                    before.push_back(before.back() + entry.second);
                }
            }
            std::string_view prefix = word;
            auto from = std::lower_bound(sorted.begin(), sorted.end(), prefix,
                                         [](const auto &entry, std::string_view text) { return entry.first < text; });
            auto to = std::upper_bound(from, sorted.end(), prefix, [](std::string_view text, const auto &entry) {
                return text < entry.first.substr(0, text.size());
            });
            answer = before[to - sorted.begin()] - before[from - sorted.begin()];
            word += '*';
        }
        out.append(word).append(" ").append(std::to_string(answer)).append("\n");
    }
    std::fwrite(out.data(), 1, out.size(), stdout);
    return 0;
}
