// Reads "name score" pairs and prints groups with their mean.
#include <iostream>
#include <iomanip>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>
using namespace std;

int main() {
    ios::sync_with_stdio(false);
    cin.tie(nullptr);
    int n;
    if (!(cin >> n)) { cout << "nothing" << endl; return 2; }
    unordered_map<string, pair<double, int>> totals;
    totals.reserve(n);
    vector<pair<const string, pair<double, int>>*> names;
    for (int i = 0; i < n; i++) {
        string name; double score;
        cin >> name >> score;
        auto found = totals.emplace(name, make_pair(0.0, 0));
        if (found.second) names.push_back(&*found.first);
        found.first->second.first += score;
        found.first->second.second++;
    }
    for (auto row : names)
        cout << left << setw(8) << row->first << "|" << right << setw(10)
             << row->second.first / row->second.second << " " << row->second.second << '\n';
    cout << names.size() << " groups\n";
    return 0;
}
