"""The C++ edits of recursions, containers and memory layout: what they write, and where they must keep off."""

from __future__ import annotations

import shutil
import subprocess
import textwrap

import pytest

from whet.agents.catalogue.registry import EDITS
from whet.agents.models.base import Brief

FIRES = {
    "a recursion keeps its values": (
        "keep-recursion",
        "static int f(const vector<int> &v, int n) { return n < 2 ? v[n] : f(v, n - 1) + f(v, n - 2); }",
        [
            "return n < 2 ? v[n] : f_kept(v, n - 1, kept) + f_kept(v, n - 2, kept); }",
            "static int f(const vector<int> &v, int n) {\n    std::map<std::tuple<int>, int> kept;\n",
        ],
    ),
    "the smallest comes from a heap": (
        "sort-to-heap",
        """
        void f(int n) {
            vector<int> v;
            v.push_back(n);
            while (n--) { sort(v.begin(), v.end()); int x = v[0]; v.erase(v.begin()); if (x) v.push_back(x / 2); }
        }
        """,
        ["priority_queue<int, vector<int>, greater<int>> v;", "{ ; int x = v.top(); v.pop(); if (x) v.push(x / 2); }"],
    ),
    "the largest comes from a heap": (
        "sort-to-heap",
        "void f() { std::vector<int> v; while (g()) { std::sort(v.begin(), v.end()); h(v.back()); v.pop_back(); } }",
        ["std::priority_queue<int> v;", "{ ; h(v.top()); v.pop(); }"],
    ),
    "the inner loop walks along rows": (
        "loop-interchange",
        "void f(int n) { for (int i = 0; i < n; i++) for (int k = 0; k < n; ++k) c[i] += a[k][i]; }",
        ["for (int k = 0; k < n; ++k) for (int i = 0; i < n; i++) c[i] += a[k][i];"],
    ),
    "truth values lie in bytes": (
        "bytes-not-bits",
        "bool f(std::vector<bool> &v) { vector<vector<bool>> w; return v[0] && w[1][2]; }",
        ["bool f(std::vector<char> &v) { vector<vector<char>> w;"],
    ),
    "indices are not checked": (
        "unchecked-index",
        "int f(const vector<vector<int>> &v, map<int, int> &m) { return v.at(1).at(v.at(2).at(0)) + m.at(3); }",
        ["return v[1][v[2][0]] + m.at(3);"],
    ),
    "a global number is constant": (
        "constant-global",
        "int mod = 1e9 + 7;\nlong f(long x) { return x % mod; }",
        ["const int mod = 1e9 + 7;"],
    ),
    "rows lie behind each other": (
        "flat-grid",
        "int f(int n) {\n    vector<vector<int>> g(n, vector<int>(3));\n    g[1][2] = g.size();\n    return n; }",
        [
            "{\n    const std::size_t g_height = n, g_width = 3;\n    vector<int> g(g_height * g_width);\n",
            "g[(std::size_t)(1) * g_width + (2)] = g_height;",
        ],
    ),
    "a map is only asked for what it holds": (
        "const-reference",
        "vector<int> f(map<string, vector<int>> m, int k) { vector<int> found = m[k]; return found; }",
        ["f(const map<string, vector<int>>& m, int k) { vector<int> found = (m.count(k) ? m.at(k) : vector<int>());"],
    ),
    "a shared pointer is not copied": (
        "const-reference",
        "int f(std::shared_ptr<int> p) { return *p; }",
        ["int f(const std::shared_ptr<int>& p)"],
    ),
}


@pytest.mark.parametrize("case", FIRES)
def test_it_writes(propose, case):
    name, source, expected = FIRES[case]
    found = propose(name, textwrap.dedent(source), language="cpp")
    assert len(found) == 1
    for text in expected:
        assert text in found[0].source


SORTED = "void f() {{ vector<int> v; while (g()) {{ sort(v.begin(), v.end()); {} }} }}"
SWAPPED = "void f(int n) {{ for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) {} }}"
GRID = "void f(int n) {{ vector<vector<int>> g(n, vector<int>(n)); {} }}"
KEEPS_OFF = {
    "it calls itself once": ("keep-recursion", "int f(int n) { return n ? n * f(n - 1) : 1; }"),
    "it prints": ("keep-recursion", "int f(int n) { cout << n; return n < 2 ? n : f(n - 1) + f(n - 2); }"),
    "it counts its calls": ("keep-recursion", "int c; int f(int n) { c++; return n < 2 ? n : f(n - 1) + f(n - 2); }"),
    "it changes a parameter": (
        "keep-recursion",
        "int f(vector<int> &v, int n) { v[n]++; return n < 2 ? n : f(v, n - 1) + f(v, n - 2); }",
    ),
    "it passes on something else": (
        "keep-recursion",
        "int f(const string &s, int n) { return n < 2 ? n : f(s, n - 1) + f(s.substr(1), n - 2); }",
    ),
    "it calls others": ("keep-recursion", "int f(int n) { return n < 2 ? next() : f(n - 1) + f(n - 2); }"),
    "it is a method": ("keep-recursion", "struct S { int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); } };"),
    "it returns nothing": ("keep-recursion", "void f(int n) { if (n) { f(n - 1); f(n - 2); } }"),
    "a parameter has a default": (
        "keep-recursion",
        "int f(int n, int k = 1) { return n < 2 ? k : f(n - 1) + f(n - 2); }",
    ),
    "both ends are taken": ("sort-to-heap", SORTED.format("h(v[0]); v.pop_back();")),
    "the middle is asked for": ("sort-to-heap", SORTED.format("h(v[1]);")),
    "all are walked through": ("sort-to-heap", SORTED.format("for (int x : v) h(x); v.pop_back();")),
    "an order of its own": (
        "sort-to-heap",
        "void f() { vector<int> v; while (g()) { sort(v.begin(), v.end(), less_than); v.pop_back(); } }",
    ),
    "it is sorted once": ("sort-to-heap", "void f() { vector<int> v; sort(v.begin(), v.end()); v.pop_back(); }"),
    "it walks along rows": ("loop-interchange", SWAPPED.format("c[i] += a[i][k];")),
    "it depends on what was written": ("loop-interchange", SWAPPED.format("a[k][i] = a[k - 1][i] + 1;")),
    "the last turn decides": ("loop-interchange", SWAPPED.format("c[i] = a[k][i];")),
    "a sum is kept": ("loop-interchange", SWAPPED.format("s += a[k][i];")),
    "something is called": ("loop-interchange", SWAPPED.format("c[i] += g(a[k][i]);")),
    "there is more in the loop": (
        "loop-interchange",
        "void f(int n) { for (int i = 0; i < n; i++) { c[i] = 0; for (int k = 0; k < n; k++) c[i] += a[k][i]; } }",
    ),
    "the inner bound follows the outer": (
        "loop-interchange",
        "void f(int n) { for (int i = 0; i < n; i++) for (int k = 0; k < i; k++) c[i] += a[k][i]; }",
    ),
    "bits are flipped": ("bytes-not-bits", "void f() { vector<bool> v(3); v.flip(); }"),
    "bits are printed": ("bytes-not-bits", "void f() { vector<bool> v(3); cout << v[0]; }"),
    "a failed check is caught": (
        "unchecked-index",
        "int f(vector<int> &v) { try { return v.at(9); } catch (...) { return 0; } }",
    ),
    "it is a map": ("unchecked-index", "int f(vector<map<int, int>> &v) { for (auto &m : v) return m.at(9); }"),
    "a global changes": ("constant-global", "int n = 3; void f() { n++; }"),
    "a global is handed out": ("constant-global", "int n = 3; int *f() { return &n; }"),
    "a global is read into": ("constant-global", 'int n = 3; void f() { scanf("%d", &n); }'),
    "a local is no global": ("constant-global", "int f() { int n = 3; return n; }"),
    "a row is handed on": ("flat-grid", GRID.format("h(g[0]);")),
    "a row is swapped": ("flat-grid", GRID.format("swap(g[0], g[1]); g[0][0] = 1;")),
    "rows are walked through": ("flat-grid", GRID.format("for (auto &row : g) h(row); g[0][0] = 1;")),
    "an element has an address": ("flat-grid", GRID.format("h(&g[0][0]);")),
    "rows differ": ("flat-grid", "void f(int n) { vector<vector<int>> g(n); g[0][0] = 1; }"),
    "the names are taken": ("flat-grid", "int g_width; " + GRID.format("g[0][0] = 1;")),
    "it is seen that nothing was inserted": (
        "const-reference",
        "int f(map<int, int> m, int k) { int n = m[k]; return n + m.size(); }",
    ),
    "a key is computed": ("const-reference", "int f(map<int, int> m) { return m[next()]; }"),
}


@pytest.mark.parametrize("case", KEEPS_OFF)
def test_it_keeps_off_where(propose, case):
    name, source = KEEPS_OFF[case]
    assert propose(name, source, language="cpp") == []


PROGRAM = r"""
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>
using namespace std;
static long base = 31;
vector<int> weights, values;

long long ways(int n) { if (n < 2) return 1; return ways(n - 1) + ways(n - 2); }
static int common(const string &a, const string &b, int i, int j) {
    if (i == (int)a.size() || j == (int)b.size()) return 0;
    if (a[i] == b[j]) return 1 + common(a, b, i + 1, j + 1);
    return max(common(a, b, i + 1, j), common(a, b, i, j + 1));
}
int best(int i, int room) {
    if (i < 0) return 0;
    int without = best(i - 1, room);
    if (weights[i] > room) return without;
    return std::max(without, values[i] + best(i - 1, room - weights[i]));
}
vector<int> of(string user, map<string, vector<int>> all) { vector<int> found = all[user]; return found; }
int use(shared_ptr<int> p) { return *p; }

int main() {
    weights = {1, 2, 3};
    values = {4, 5, 9};
    cout << ways(20) << " " << common("abcbdab", "bdcaba", 0, 0) << " " << best(2, 4) << "\n";

    std::vector<long long> left;
    vector<int> low;
    vector<string> words;
    for (int i = 0; i < 9; i++) {
        left.push_back(i * 7 % 5);
        words.push_back(string(i * 3 % 4, 'a' + i));
        low.push_back(i * 5 % 7);
    }
    long long cost = 0;
    while (left.size() > 1) {
        std::sort(left.begin(), left.end(), std::greater<long long>());
        long long a = left.back();
        left.pop_back();
        sort(left.begin(), left.end(), greater<>());
        long long b = left.back();
        left.pop_back();
        cost += a + b;
        left.push_back(a + b);
    }
    while (!words.empty()) { sort(words.begin(), words.end()); cout << words.back(); words.pop_back(); }
    while (!low.empty()) {
        sort(low.begin(), low.end());
        int x = low[0];
        low.erase(low.begin());
        cout << x;
        if (x > 3) low.push_back(x - 2);
    }

    const int n = 5, m = 4;
    double a[n][n], b[n][n], c[n][n];
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            a[i][j] = i * 0.5 + j;
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { b[i][j] = a[i][j] / 3; c[i][j] = 0; }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < n; k++) {
                c[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    vector<vector<int>> g(n, vector<int>(m, 1));
    std::vector<std::vector<bool>> seen(n + 1, std::vector<bool>(m));
    long s = 0;
    for (size_t i = 0; i < g.size(); i++) for (size_t j = 0; j < g[i].size(); j++) {
        g[i][j] += i * j % base;
        seen[i + 1][j] = g[i][j] > 3;
    }
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s = s * base % 1000007 + g.at(i).at(j) + seen[i][j];
    map<string, vector<int>> all{{"a", {1, 2}}, {"q", {}}};
    cout << cost << " " << c[1][2] << " " << s << of("a", all).size() << of("b", all).size() << all.size();
    cout << use(make_shared<int>(4)) << "\n";
}
"""


@pytest.mark.corpus
@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
def test_the_program_with_all_of_them_answers_like_the_old_one(tmp_path):
    def answer(source, name):
        path = tmp_path / f"{name}.cpp"
        path.write_text(source)
        subprocess.run(["g++", "-O1", "-w", "-o", path.with_suffix(""), path], check=True)
        return subprocess.run([path.with_suffix("")], capture_output=True, text=True, check=True, timeout=10).stdout

    source = textwrap.dedent(PROGRAM)
    for name in dict.fromkeys(("unchecked-index", *(name for name, *_ in FIRES.values()))):
        edit = next(each for each in EDITS if each.name == name)
        count = 0
        while found := next(edit.propose(Brief("cpp", "program", None, source)), None):
            source, count = found.source, count + 1
            assert count < 9
        assert count > 0, name
    old = answer(textwrap.dedent(PROGRAM), "old")
    assert len(old) > 50
    assert answer(source, "new") == old
