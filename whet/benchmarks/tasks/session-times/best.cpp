// Cuts the log of a web site into sessions.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

using std::string_view;

const long GAP = 1800;

struct Event {
    long time;
    string_view page;
};

static bool blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The next word of a line, which is shortened by it; empty where there is none.
static string_view word(string_view &line) {
    size_t from = 0;
    while (from < line.size() && blank(line[from])) {
        from++;
    }
    size_t to = from;
    while (to < line.size() && !blank(line[to])) {
        to++;
    }
    string_view found = line.substr(from, to - from);
    line.remove_prefix(to);
    return found;
}

static string_view pageName(string_view page) {
    page = page.substr(0, page.find_first_of("?#"));
    while (page.size() > 1 && page.back() == '/') {
        page.remove_suffix(1);
    }
    return page;
}

int main() {
    std::string text;
    char block[1 << 16];
    size_t got;
    while ((got = std::fread(block, 1, sizeof block, stdin)) > 0) {
        text.append(block, got);
    }
    std::unordered_map<string_view, std::vector<Event>> events;
    int unreadable = 0;
    for (size_t at = 0; at < text.size();) {
        size_t end = std::min(text.find('\n', at), text.size());
        string_view line(text.data() + at, end - at);
        at = end + 1;
        string_view time = word(line), user = word(line), page = word(line);
        bool good = !page.empty() && word(line).empty() && time.size() <= 12;
        long seconds = 0;
        for (char c : time) {
            good = good && c >= '0' && c <= '9';
            seconds = seconds * 10 + (good ? c - '0' : 0);
            if (!good) {
                break;
            }
        }
        if (good) {
            events[user].push_back({seconds, pageName(page)});
        } else {
            unreadable++;
        }
    }
    std::vector<std::pair<string_view, std::vector<Event> *>> users;
    for (auto &entry : events) {
        users.push_back({entry.first, &entry.second});
    }
    std::sort(users.begin(), users.end(), [](auto &a, auto &b) { return a.first < b.first; });

    std::unordered_map<string_view, int> entries;
    std::string out;
    int count = 0;
    for (auto &[user, found] : users) {
        out.append(user).append(":\n");
        auto earlier = [](const Event &a, const Event &b) { return a.time < b.time; };
        if (!std::is_sorted(found->begin(), found->end(), earlier)) {
            std::stable_sort(found->begin(), found->end(), earlier);
        }
        for (size_t first = 0, next = 0; first < found->size(); first = next) {
            next = first + 1;
            while (next < found->size() && (*found)[next].time - (*found)[next - 1].time <= GAP) {
                next++;
            }
            count++;
            long start = (*found)[first].time;
            out.append("  ").append(std::to_string(start)).append(" ").append(std::to_string(next - first));
            out.append(" pages, ").append(std::to_string((*found)[next - 1].time - start)).append(" s\n");
            entries[(*found)[first].page]++;
        }
    }
    std::vector<std::pair<int, string_view>> ranking;
    for (auto &entry : entries) {
        ranking.push_back({-entry.second, entry.first});
    }
    std::sort(ranking.begin(), ranking.end());
    for (auto &entry : ranking) {
        out.append(std::to_string(-entry.first)).append(" x ").append(entry.second).append("\n");
    }
    out.append(std::to_string(count)).append(" sessions of ").append(std::to_string(users.size()));
    out.append(" users, ").append(std::to_string(unreadable)).append(" unreadable lines\n");
    std::fwrite(out.data(), 1, out.size(), stdout);
    return 0;
}
