// Counts words, then answers questions about them.
//
// Input: a number of words and the words, then a number of questions and the questions:
//   count WORD    how often the word occurs
//   first WORD    the position of its first occurrence, or -1
//   prefix WORD   how many words begin with it, repeated ones included
#include <iostream>
#include <map>
#include <string>
#include <vector>

using namespace std;

int countPrefix(vector<string> words, string prefix) {
    int found = 0;
    for (size_t i = 0; i < words.size(); i++) {
        if (words[i].compare(0, prefix.size(), prefix) == 0) {
            found++;
        }
    }
    return found;
}

int main() {
    int n;
    cin >> n;
    vector<string> words;
    map<string, int> counts;
    map<string, int> firsts;
    for (int i = 0; i < n; i++) {
        string word;
        cin >> word;
        words.push_back(word);
        counts[word]++;
        if (firsts.find(word) == firsts.end()) {
            firsts[word] = i;
        }
    }

    int q;
    cin >> q;
    for (int i = 0; i < q; i++) {
        string kind, word;
        cin >> kind >> word;
        if (kind == "count") {
            auto found = counts.find(word);
            cout << word << " " << (found == counts.end() ? 0 : found->second) << endl;
        } else if (kind == "first") {
            auto found = firsts.find(word);
            cout << word << " " << (found == firsts.end() ? -1 : found->second) << endl;
        } else {
            cout << word << "* " << countPrefix(words, word) << endl;
        }
    }
    return 0;
}
