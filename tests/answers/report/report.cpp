// Reads "name score" pairs and prints groups with their mean.
#include <iostream>
#include <iomanip>
#include <map>
#include <string>
#include <vector>
using namespace std;

int main() {
    int n;
    if (!(cin >> n)) { cout << "nothing" << endl; return 2; }
    vector<pair<string, double>> rows;
    for (int i = 0; i < n; i++) {
        string name; double score;
        cin >> name >> score;
        rows.push_back(make_pair(name, score));
    }
    vector<string> names;
    for (auto row : rows) {
        bool seen = false;
        for (auto name : names) if (name == row.first) seen = true;
        if (!seen) names.push_back(row.first);
    }
    for (auto name : names) {
        double sum = 0; int count = 0;
        for (auto row : rows) if (row.first == name) { sum += row.second; count++; }
        cout << left << setw(8) << name << "|" << right << setw(10) << sum / count << " " << count << endl;
    }
    cout << names.size() << " groups" << endl;
    return 0;
}
