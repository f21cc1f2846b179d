// Finds the longest passage that occurs more than once in a text.
//
// Input: the text. Line ends and runs of blanks count as one blank. Output: the length of the passage, how often it occurs
// (occurrences may overlap), where it occurs first, and the passage; of equally long ones, that which occurs first.
#include <cctype>
#include <iostream>
#include <string>

std::string readText() {
    std::string text, line;
    while (std::getline(std::cin, line)) {
        for (char c : line) {
            if (isspace((unsigned char)c)) {
                if (!text.empty() && text.back() != ' ') text += ' ';
            } else {
                text += c;
            }
        }
        if (!text.empty() && text.back() != ' ') text += ' ';
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    return text;
}

size_t commonLength(const std::string &text, size_t one, size_t other) {
    size_t length = 0;
    while (other + length < text.size() && text[one + length] == text[other + length]) {
        length++;
    }
    return length;
}

int main() {
    std::string text = readText();
    size_t best = 0, where = 0;
    for (size_t i = 0; i < text.size(); i++) {
        for (size_t j = i + 1; j < text.size(); j++) {
            size_t length = commonLength(text, i, j);
            if (length > best) {
                best = length;
                where = i;
            }
        }
    }
    if (best == 0) {
        std::cout << "nothing occurs twice" << std::endl;
        return 0;
    }
    std::string passage = text.substr(where, best);
    int count = 0;
    for (size_t i = 0; i + best <= text.size(); i++) {
        if (text.substr(i, best) == passage) {
            count++;
        }
    }
    std::cout << best << " letters, " << count << " times, first at " << where << std::endl;
    std::cout << passage << std::endl;
    return 0;
}
