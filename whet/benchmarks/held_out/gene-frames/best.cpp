// Looks for genes in all six reading frames of DNA sequences.
#include <array>
#include <cctype>
#include <cstring>
#include <iostream>
#include <string>

using namespace std;

static const char *ACIDS = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG";

static void describe(const string &name, const string &sequence) {
    static const char BASES[] = "TCAG";
    static const array<unsigned char, 256> code = [] {
        array<unsigned char, 256> made;
        made.fill(64);
        for (int i = 0; i < 4; i++) made[(unsigned char)BASES[i]] = made[(unsigned char)tolower(BASES[i])] = i;
        return made;
    }();
    size_t n = sequence.size();
    string forward(n, 0), backward(n, 0);
    long long gc = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char base = code[(unsigned char)sequence[i]];
        forward[i] = base;
        backward[n - 1 - i] = base == 64 ? 64 : base ^ 2;  // T and A are 0 and 2, C and G are 1 and 3
        gc += base == 1 || base == 3;
    }
    cout << name << ": " << n << " bases, " << (n ? gc * 1000 / (long long)n : 0) << '\n';
    string current, longest;
    for (int strand = 0; strand < 2; strand++) {
        const string &bases = strand ? backward : forward;
        for (int frame = 0; frame < 3; frame++) {
            size_t count = 0;
            bool inside = false;
            current.clear();
            longest.clear();
            for (size_t i = frame; i + 3 <= n; i += 3) {
                unsigned a = bases[i], b = bases[i + 1], c = bases[i + 2];
                char acid = (a | b | c) & 64 ? 'X' : ACIDS[a * 16 + b * 4 + c];
                if (!inside && acid == 'M') inside = true;
                if (!inside) continue;
                if (acid == '*') {
                    count++;
                    if (current.size() > longest.size()) longest = current;
                    current.clear();
                    inside = false;
                } else {
                    current += acid;
                }
            }
            cout << (strand ? '-' : '+') << frame + 1 << ' ' << count << ' ' << longest << '\n';
        }
    }
}

int main() {
    ios::sync_with_stdio(false);
    string line, name, sequence;
    bool any = false;
    while (getline(cin, line)) {
        if (!line.empty() && line[0] == '>') {
            if (any) describe(name, sequence);
            name = line.substr(1);
            sequence.clear();
            any = true;
        } else {
            for (char c : line)
                if (isalpha((unsigned char)c)) sequence += c;
        }
    }
    if (any) describe(name, sequence);
    return 0;
}
