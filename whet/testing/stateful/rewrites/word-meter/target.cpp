#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace meter {
struct Text {
    char *data;
    std::size_t size, capacity;
};
std::uint32_t words;
Text longest;
}

extern "C" std::int64_t longest_word(const char *text, std::int64_t n) {
    std::string best, word;
    for (std::int64_t i = 0; i <= n; i++) {
        if (i < n && text[i] != ' ') {
            word = word + text[i];
            continue;
        }
        if (!word.empty()) meter::words++;
        if (word.size() > best.size()) best = word;
        word = "";
    }
    if (best.size() > meter::longest.size) {
        std::free(meter::longest.data);
        meter::longest = {static_cast<char *>(std::malloc(best.size())), best.size(), best.size()};
        std::memcpy(meter::longest.data, best.data(), best.size());
    }
    return static_cast<std::int64_t>(best.size());
}
