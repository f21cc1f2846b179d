"""The C and C++ edits: what they write, where they must keep off, and that the new programs answer the same."""

from __future__ import annotations

import shutil
import subprocess
import textwrap

import pytest

from whet.agents.catalogue.registry import EDITS, proposals
from whet.agents.models.base import Brief

FIRES = {
    "streams are untied, and lines end without a flush": (
        "fast-io",
        """
        #include <iostream>
        int main() {
            int n;
            std::cin >> n;
            std::cout << n << std::endl;  // std::endl
        }
        """,
        [
            "int main() {\n    std::ios::sync_with_stdio(false);\n    std::cin.tie(nullptr);\n",
            r"<< n << '\n';  // std::endl",
        ],
    ),
    "streams stay in step with stdio": (
        "fast-io",
        """
        #include <iostream>
        #include <cstdio>
        using namespace std;
        int main() { int n; cin >> n; printf("%d", n); cout << "endl" << endl; }
        """,
        [r"""cout << "endl" << '\n'; }"""],
    ),
    "all copies of a function become references, in its declaration too": (
        "const-reference",
        """
        int sum(std::vector<int> v, const string name, int k);
        int sum(std::vector<int> v, const string name, int k) {
            int s = k;
            for (size_t i = 0; i < v.size(); i++) s += v[i] + name.size();
            return s;
        }
        """,
        [
            "int sum(const std::vector<int>& v, const string& name, int k);",
            "int sum(const std::vector<int>& v, const string& name, int k) {",
        ],
    ),
    "a recursive function hands its copy on": (
        "const-reference",
        """
        int walk(vector<vector<int>> graph, int v) {
            int n = 1;
            for (int u : graph[v]) n += walk(graph, u);
            return n;
        }
        """,
        ["int walk(const vector<vector<int>>& graph, int v) {"],
    ),
    "elements are looked at by reference": (
        "loop-reference",
        "void f(const vector<string>& ws) { for (auto w : ws) cout << w; }",
        ["for (const auto& w : ws)"],
    ),
    "a map becomes a hash table": (
        "ordered-to-unordered",
        """
        #include <map>
        int main() {
            std::map<std::string, int> counts = {{"a", 1}};
            counts["b"]++;
            auto found = counts.find("c");
            return found == counts.end() ? 0 : found->second;
        }
        """,
        ["#include <unordered_map>\n#include <map>", "std::unordered_map<std::string, int> counts"],
    ),
    "a member that is a set becomes a hash table": (
        "ordered-to-unordered",
        """
        #include <bits/stdc++.h>
        struct Seen { set<long long> ids; bool has(long long x) { return ids.count(x) > 0; } };
        void add(Seen &seen, long long x) { seen.ids.insert(x); }
        """,
        ["struct Seen { unordered_set<long long> ids;"],
    ),
    "a vector's place is reserved": (
        "reserve",
        """
        void f(int n) {
            vector<int> v;
            for (int i = 0; i < n; i++) {
                int x = i;
                v.push_back(x);
            }
        }
        """,
        ["    vector<int> v;\n    if (n > 0) v.reserve(n);\n    for"],
    ),
    "a length is asked for once": (
        "hoist-length",
        "void f(char *s) {\n    for (size_t i = 0; i < strlen(s); i++)\n        s[i] = ' ';\n}",
        ["const size_t s_length = strlen(s);\n    for (size_t i = 0; i < s_length; i++)"],
    ),
    "a loop without a line of its own gets braces": (
        "hoist-length",
        "int f(string s) { int n = 0; if (n) for (int i = 0; i < s.size(); i++) n += s[i]; else n = 1; return n; }",
        ["if (n) { const auto s_length = s.size(); for (int i = 0; i < s_length; i++) n += s[i]; } else"],
    ),
}


@pytest.mark.parametrize("case", FIRES)
def test_it_writes(propose, case):
    name, source, expected = FIRES[case]
    found = propose(name, source, language="cpp")
    assert len(found) == 1
    for text in expected:
        assert text in found[0].source


KEEPS_OFF = {
    "nothing is printed": ("fast-io", "int main() { return 0; }"),
    "the streams are untied already": (
        "fast-io",
        "#include <iostream>\nint main() { std::ios::sync_with_stdio(0); std::cin.get(); }",
    ),
    "the copy is changed": ("const-reference", "int f(vector<int> v) { v[0] = 1; return v[0]; }"),
    "the copy is sorted": ("const-reference", "int f(vector<int> v) { sort(v.begin(), v.end()); return v[0]; }"),
    "the copy is handed to a writer": (
        "const-reference",
        "void g(vector<int> &v) { v.clear(); }\nvoid f(vector<int> v) { g(v); }",
    ),
    "it is read into": ("const-reference", "void f(string s) { cin >> s; }"),
    "a reference to it is kept": ("const-reference", "void f(vector<int> v) { auto &w = v; w.clear(); }"),
    "its elements are changed by reference": (
        "const-reference",
        "void f(map<int, int> m) { for (auto &[key, value] : m) value++; }",
    ),
    "a function of the file changes it": (
        "const-reference",
        "int count(vector<int> &v) { v.clear(); return 0; }\nint f(vector<int> v) { return count(v); }",
    ),
    "it is moved": ("const-reference", "void f(string s) { keep(std::move(s)); }"),
    "there are two of the name": (
        "const-reference",
        "int f(vector<int> v) { return v[0]; }\nint f(string s) { return s[0]; }",
    ),
    "it is a reference already": ("const-reference", "int f(vector<int> &v) { return v[0]; }"),
    "it is in a comment": (
        "const-reference",
        '// int f(vector<int> v) { return 0; }\nconst char *s = "f(string s) {}";',
    ),
    "the element is changed": ("loop-reference", 'void f(vector<string> v) { for (string s : v) s += "x"; }'),
    "elements are cheap": ("loop-reference", "void f(vector<int> v) { for (auto x : v) g(x); }"),
    "the container is changed": (
        "loop-reference",
        "void f(vector<string> v) { for (string s : v) { v.push_back(s); } }",
    ),
    "the map is iterated": (
        "ordered-to-unordered",
        "void f() { map<int, int> m; m[1]++; for (auto &p : m) g(p.first); }",
    ),
    "the first element is asked for": (
        "ordered-to-unordered",
        "int f() { set<int> s; s.insert(1); return *s.begin(); }",
    ),
    "a neighbour is asked for": (
        "ordered-to-unordered",
        "int f() { set<int> s; auto it = s.find(1); ++it; return *it; }",
    ),
    "the map is handed on": ("ordered-to-unordered", "void f() { map<int, int> m; m[1]++; show(m); }"),
    "the key has no hash": ("ordered-to-unordered", "void f() { map<pair<int, int>, int> m; m[{1, 2}]++; }"),
    "it is part of another type": ("ordered-to-unordered", "void f() { vector<map<int, int>> m; m[0][1]++; }"),
    "it is a parameter": ("ordered-to-unordered", "int f(map<int, int> &m) { return m[1]; }"),
    "elements are added now and then": (
        "reserve",
        "void f(int n) { vector<int> v; for (int i = 0; i < n; i++) { if (i % 2) v.push_back(i); } }",
    ),
    "the vector is filled before": (
        "reserve",
        "void f(int n) { vector<int> v; v.push_back(1); for (int i = 0; i < n; i++) v.push_back(i); }",
    ),
    "the bound moves": (
        "reserve",
        "void f(int n) { vector<int> v; for (int i = 0; i < n; i++) { v.push_back(i); n--; } }",
    ),
    "the container shrinks": ("hoist-length", "void f(string s) { while (s.size() > 3) s.pop_back(); }"),
    "the string is ended earlier": (
        "hoist-length",
        r"void f(char *s) { for (int i = 0; i < strlen(s); i++) if (s[i] == 32) s[i] = '\0'; }",
    ),
    "the pointer moves": ("hoist-length", "void f(char *s) { while (strlen(s) > 2) s++; }"),
    "the loop tests at its end": ("hoist-length", "void f(string s) { int i = 0; do { i++; } while (i < s.size()); }"),
}


@pytest.mark.parametrize("case", KEEPS_OFF)
def test_it_keeps_off_where(propose, case):
    name, source = KEEPS_OFF[case]
    assert propose(name, source, language="cpp") == []


def test_c_gets_the_edits_of_c_alone():
    source = "#include <string.h>\nint f(char *s) { int n = 0; while (n < strlen(s)) n++; return n; }\n"
    assert {each.edit for each in proposals(Brief("c", "program", None, source))} == {"hoist-length", "pragma"}


def test_the_signature_of_a_target_function_stays(propose):
    source = "int f(vector<int> v) { return v[0]; }\n"
    assert propose("const-reference", source, symbol="f", language="cpp") == []


@pytest.mark.corpus
@pytest.mark.parametrize("source", ["int main( {", "}}", '"', "/*", "(" * 3000, "{[}]", 'R"x(', "for (;;", "map<", ""])
def test_what_cannot_be_read_gives_nothing(source):
    assert proposals(Brief("cpp", "program", None, source)) == []


PROGRAM = r"""
#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>
using namespace std;

map<string, int> counts;
int total(vector<int> values, const string name, int k);

int total(vector<int> values, const string name, int k) {
    int sum = 0;
    for (int i = 0; i < values.size(); i++) sum += values[i] * k;
    if (name.size() > 3) for (size_t j = 0; j < name.length(); ++j) { sum += name[j]; } else sum--;
    return sum;
}

vector<string> firsts(vector<pair<string, int>> rows, int n) {
    vector<string> found;
    for (int i = 0; i < n; ++i) found.push_back(rows[i].first);
    for (pair<string, int> row : rows) cout << row.first << ":" << row.second << endl;
    return found;
}

struct Seen {
    set<int> ids;
    bool add(int id) { return ids.insert(id).second && ids.find(id) != ids.end(); }
};

int main() {
    int n;
    cin >> n;
    vector<pair<string, int>> rows;
    vector<int> ids;
    Seen seen;
    for (int i = 0; i < n; i++) {
        string word;
        cin >> word;
        rows.push_back({word, counts[word]++});
        if (seen.add(i % 3)) ids.push_back(i);
    }
    for (auto word : firsts(rows, n)) {
        auto found = counts.find(word);
        cout << word << " " << (found == counts.end() ? 0 : found->second) << std::endl;
    }
    cout << total(ids, "endl", 2) << total(ids, "x", 3) << endl;
}
"""


LATER = ("block-input", "block-output", "clang-tidy")
"""What takes the streams away on which others work, or does what others do."""


@pytest.mark.corpus
@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
def test_new_programs_answer_like_the_old_one(tmp_path):
    def answer(source, name):
        path = tmp_path / f"{name}.cpp"
        path.write_text(source)
        subprocess.run(["g++", "-O1", "-w", "-o", path.with_suffix(""), path], check=True)
        done = subprocess.run([path.with_suffix("")], input="6 a b a c d a", capture_output=True, text=True, check=True)
        return done.stdout

    source = textwrap.dedent(PROGRAM)
    old = answer(source, "old")
    assert old.count("\n") == 13
    # each on top of those before, so that a few builds see all of them
    applied = []
    for edit in EDITS:
        while "cpp" in edit.languages and edit.name not in LATER:
            found = next(edit.propose(Brief("cpp", "program", None, source)), None)
            if found is None:
                break
            applied.append(edit.name)
            source = found.source
            assert len(applied) < 40
    assert set(applied) >= {
        "fast-io",
        "const-reference",
        "loop-reference",
        "ordered-to-unordered",
        "hoist-length",
        "reserve",
    }
    assert answer(source, "new") == old
