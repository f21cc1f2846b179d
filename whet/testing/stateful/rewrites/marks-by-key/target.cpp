#include <cstdint>
#include <map>

namespace {
std::map<uint32_t, int64_t> marked;
}

extern "C" int64_t is_marked(uint32_t key) { return marked.count(key); }

extern "C" int64_t marks_of(uint32_t key) {
    const auto found = marked.find(key);
    return found == marked.end() ? 0 : found->second;
}

extern "C" int64_t spread(const int32_t *values, int64_t n, uint32_t key) {
    int64_t low = 0, high = 0;
    marked[key];
    for (int64_t i = 0; i < n; i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
        marked[key]++;
    }
    return high - low;
}
