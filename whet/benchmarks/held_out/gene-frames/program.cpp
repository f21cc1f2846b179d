// Looks for genes in all six reading frames of DNA sequences.
//
// Input: FASTA: lines that begin with '>' name a sequence, the lines after it hold its bases, in large or small letters.
// Output: for each sequence its length, the share of G and C in tenths of a percent, and for each frame (three as written,
// three of the opposite strand) the number of genes (from M to a stop) and the longest of them.
#include <cctype>
#include <iostream>
#include <map>
#include <string>
#include <vector>

using namespace std;

map<string, char> codonTable() {
    string bases = "TCAG";
    string acids = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG";
    map<string, char> table;
    int index = 0;
    for (char a : bases)
        for (char b : bases)
            for (char c : bases) table[string() + a + b + c] = acids[index++];
    return table;
}

char complement(char base) {
    map<char, char> pairs = {{'A', 'T'}, {'C', 'G'}, {'G', 'C'}, {'T', 'A'}};
    if (pairs.count(base) > 0) return pairs[base];
    return 'N';
}

string oppositeStrand(string sequence) {
    string result;
    for (size_t i = sequence.size(); i > 0; i--) result = result + complement(sequence[i - 1]);
    return result;
}

string translate(string sequence, int frame, map<string, char> table) {
    string protein;
    for (size_t i = frame; i + 3 <= sequence.size(); i += 3) {
        string codon = sequence.substr(i, 3);
        if (table.find(codon) != table.end())
            protein = protein + table[codon];
        else
            protein = protein + 'X';
    }
    return protein;
}

vector<string> genes(string protein) {
    vector<string> found;
    string current;
    bool inside = false;
    for (char acid : protein) {
        if (!inside && acid == 'M') inside = true;
        if (inside && acid == '*') {
            found.push_back(current);
            current = "";
            inside = false;
        }
        if (inside) current = current + acid;
    }
    return found;
}

void describe(string name, string sequence) {
    int gc = 0;
    for (size_t i = 0; i < sequence.size(); i++) {
        sequence[i] = toupper(sequence[i]);
        if (sequence[i] == 'G' || sequence[i] == 'C') gc++;
    }
    cout << name << ": " << sequence.size() << " bases, " << (sequence.empty() ? 0 : gc * 1000LL / (long long)sequence.size()) << endl;
    for (int strand = 0; strand < 2; strand++) {
        for (int frame = 0; frame < 3; frame++) {
            vector<string> all = genes(translate(strand == 0 ? sequence : oppositeStrand(sequence), frame, codonTable()));
            string longest;
            for (string gene : all)
                if (gene.size() > longest.size()) longest = gene;
            cout << (strand == 0 ? '+' : '-') << frame + 1 << ' ' << all.size() << ' ' << longest << endl;
        }
    }
}

int main() {
    string line, name, sequence;
    bool any = false;
    while (getline(cin, line)) {
        if (!line.empty() && line[0] == '>') {
            if (any) describe(name, sequence);
            name = line.substr(1);
            sequence = "";
            any = true;
        } else {
            for (char c : line)
                if (isalpha((unsigned char)c)) sequence = sequence + c;
        }
    }
    if (any) describe(name, sequence);
    return 0;
}
