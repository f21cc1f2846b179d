#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace meter {
struct Text {
    char *data;
    std::size_t size, capacity;
};
std::uint32_t words;
Text longest;
}

extern "C" std::int64_t longest_word(const char *text, std::int64_t n) {
    std::string_view rest(text, static_cast<std::size_t>(n)), best;
    while (!rest.empty()) {
        std::string_view word = rest.substr(0, rest.find(' '));
        if (!word.empty()) meter::words++;
        if (word.size() > best.size()) best = word;
        rest.remove_prefix(word.size() + (word.size() < rest.size()));
    }
    meter::Text &longest = meter::longest;
    if (best.size() > longest.size) {
        if (best.size() > longest.capacity) {
            longest.capacity = best.size() * 2;
            longest.data = static_cast<char *>(std::realloc(longest.data, longest.capacity));
        }
        longest.size = best.size();
        std::memcpy(longest.data, best.data(), best.size());
    }
    return static_cast<std::int64_t>(best.size());
}
