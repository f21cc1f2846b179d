"""The C and C++ edits of strings, look-ups, queues and calls: what they write, and where they must keep off."""

from __future__ import annotations

import shutil
import subprocess
import textwrap

import pytest

from whet.agents.catalogue.registry import EDITS
from whet.agents.models.base import Brief

FIRES = {
    "a string grows in place": (
        "string-in-place",
        'string f(string t) { string s; for (char c : t) s = s + c; s = s + "a" + t; return s; }',
        ["for (char c : t) s += c; ", '(s += "a") += t; return'],
    ),
    "a string loses its last letter in place": (
        "string-in-place",
        "void f(string &s) { if (s.size() > 3) s = s.substr(0, s.size() - 1); else s = s.substr(1); }",
        ["s.resize(s.empty() ? 0 : s.size() - 1); else s.erase(0, 1);"],
    ),
    "a character is compared as such": (
        "character-not-substr",
        """bool f(const string &s, int i) { return s.substr(i + 1, 1) == "'" || s.substr(s.size() - 1) != "\\n"; }""",
        [r"return s[i + 1] == '\'' || s.back() != '\n';"],
    ),
    "a character is appended as such": (
        "character-not-substr",
        "void f(string &s, string t) { s += t.substr(2, 1); s = s + t.substr(3, 1); }",
        ["s += t[2]; s = s + t[3];"],
    ),
    "a root is computed once": (
        "hoist-call",
        "bool f(int n) {\n    for (int i = 2; i <= sqrt(n); i++)\n        if (n % i == 0) return 0;\n    return 1;\n}",
        ["{\n    const auto sqrt_value = sqrt(n);\n    for (int i = 2; i <= sqrt_value; i++)"],
    ),
    "one call at two places is computed once": (
        "hoist-call",
        "double f(double a, int n) { double s = 0; while (n--) { s += std::exp(a) * n; s -= std::exp(a); } return s; }",
        ["const auto exp_value = std::exp(a);", "s += exp_value * n; s -= exp_value;"],
    ),
    "a square is a product": (
        "small-power",
        "double f(double x, const vector<int> &v) { return pow(x, 2) + std::pow(v[0] - 1, 3.0) + pow(x, 4); }",
        ["return (x * x) + ((double)(v[0] - 1) * (v[0] - 1) * (v[0] - 1)) + ((x * x) * (x * x));"],
    ),
    "a queue gives from its front": (
        "vector-to-deque",
        """
        void f(int n) {
            std::vector<int> q;
            q.insert(q.begin(), n);
            while (!q.empty()) { int x = q.front(); q.erase(q.begin()); if (x) q.push_back(x - 1); }
        }
        """,
        ["#include <deque>\n", "std::deque<int> q;", "q.push_front(n);", "q.pop_front();"],
    ),
    "a vector is asked by a set beside it": (
        "vector-membership",
        """
        void f(vector<string> names) {
            vector<string> found;
            for (auto &name : names)
                if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
            sort(found.begin(), found.end());
            for (auto name : found) cout << name << found.size();
        }
        """,
        [
            "vector<string> found;\n    unordered_set<string> found_seen;\n",
            "if (!found_seen.count(name)) (found.push_back(name), found_seen.insert(found.back()));",
        ],
    ),
    "a key is looked up once": (
        "lookup-once",
        "int f(map<string, int> &m, string k) { if (m.count(k) > 0) { m[k]++; return m.at(k); } return 0; }",
        ["if (auto m_at = m.find(k); m_at != m.end()) { m_at->second++; return m_at->second; }"],
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
    "numbers are added": ("string-in-place", "int f(int n) { int s = 0; s = s + n; return s; }"),
    "the string comes last": ("string-in-place", "void f(string &s, string t) { s = t + s; }"),
    "the string comes again": ("string-in-place", "void f(string &s, string t) { s = s + t + s; }"),
    "the sum is part of something else": ("string-in-place", "void f(string &s, bool b) { s = s + t == u ? v : w; }"),
    "a middle is cut out": ("string-in-place", "void f(string &s) { s = s.substr(2, 3); }"),
    "a literal is longer": ("character-not-substr", 'bool f(string s) { return s.substr(0, 1) == "ab"; }'),
    "a part is longer": ("character-not-substr", 'bool f(string s) { return s.substr(0, 2) == "a"; }'),
    "a pointer would be moved": ("character-not-substr", 'string f(string s) { return "a" + s.substr(0, 1); }'),
    "a part is added to a part": ("character-not-substr", "void f(string &s, string t) { s += t.substr(0, 1) + t; }"),
    "the argument changes": ("hoist-call", "int f(int n) { while (sqrt(n) > 2) n--; return n; }"),
    "the argument is declared inside": ("hoist-call", "void f(int n) { while (n--) { double x = n; g(sqrt(x)); } }"),
    "the argument is read into": ("hoist-call", "void f(int n, int q) { while (q--) { cin >> n; g(sqrt(n)); } }"),
    "another function may change it": ("hoist-call", "int n; void f() { while (g()) h(sqrt(n)); }"),
    "it is behind a pointer": ("hoist-call", "void f(double *x) { while (g(x)) h(sqrt(*x)); }"),
    "the head starts with it": ("hoist-call", "void f(int n) { for (int i = sqrt(n); i > 0; i--) g(i); }"),
    "it is a method": ("hoist-call", "void f(int n, T t) { while (g()) h(t.log(n)); }"),
    "the exponent is not known": ("small-power", "double f(double x, int n) { return pow(x, n); }"),
    "the base is a call": ("small-power", "double f() { return pow(next(), 2); }"),
    "the base changes": ("small-power", "double f(int i) { return pow(i++, 2); }"),
    "long doubles are about": ("small-power", "long double f(long double x) { return pow(x, 2); }"),
    "the front stays": ("vector-to-deque", "void f() { vector<int> q; q.push_back(1); q.erase(q.begin() + 1); }"),
    "the memory is asked for": (
        "vector-to-deque",
        "void f() { vector<int> q; q.push_back(1); g(q.data()); q.erase(q.begin()); }",
    ),
    "the queue is handed on": (
        "vector-to-deque",
        "void f() { vector<int> q; q.push_back(1); g(q); q.erase(q.begin()); }",
    ),
    "the queue is returned": ("vector-to-deque", "vector<int> f() { vector<int> q(3); q.erase(q.begin()); return q; }"),
    "the queue is a parameter": ("vector-to-deque", "void f(vector<int> &q) { q.erase(q.begin()); }"),
    "two vectors are declared at once": ("vector-to-deque", "void f() { vector<int> q, r; q.erase(q.begin()); }"),
    "elements go away": (
        "vector-membership",
        "void f(int x) { vector<int> v; if (find(v.begin(), v.end(), x) == v.end()) g(); v.pop_back(); }",
    ),
    "elements change": (
        "vector-membership",
        "void f(int x) { vector<int> v; v.push_back(x); if (find(v.begin(), v.end(), x) == v.end()) v[0] = 1; }",
    ),
    "elements change by reference": (
        "vector-membership",
        "void f(int x) { vector<int> v; if (find(v.begin(), v.end(), x) == v.end()) for (auto &y : v) y++; }",
    ),
    "the place is asked for": (
        "vector-membership",
        "int f(int x) { vector<int> v; v.push_back(x); return find(v.begin(), v.end(), x) - v.begin(); }",
    ),
    "elements cannot be hashed": (
        "vector-membership",
        "void f(P x) { vector<P> v; if (find(v.begin(), v.end(), x) == v.end()) v.push_back(x); }",
    ),
    "the vector is handed on": (
        "vector-membership",
        "void f(int x) { vector<int> v; g(v); if (find(v.begin(), v.end(), x) == v.end()) v.push_back(x); }",
    ),
    "another key is looked up": (
        "lookup-once",
        "int f(map<int, int> &m, int k) { if (m.count(k)) return m[k + 1]; return 0; }",
    ),
    "the key is erased": ("lookup-once", "void f(map<int, int> &m, int k) { if (m.count(k)) { m[k]++; m.erase(k); } }"),
    "the key changes": ("lookup-once", "void f(map<int, int> &m, int k) { if (m.count(k)) { k++; m[k]++; } }"),
    "more is asked": ("lookup-once", "void f(map<int, int> &m, int k) { if (m.count(k) && k) m[k]++; }"),
    "it is a set": ("lookup-once", "int f(set<int> &m, int k) { if (m.count(k)) return k; return 0; }"),
}


@pytest.mark.parametrize("case", KEEPS_OFF)
def test_it_keeps_off_where(propose, case):
    name, source = KEEPS_OFF[case]
    assert propose(name, source, language="cpp") == []


def test_calls_in_c_have_a_type_of_their_own(propose):
    found = propose("hoist-call", "void f(int n) { for (int i = 0; i < sqrt(n); i++) g(i); }", language="c")
    assert "const double sqrt_value = sqrt(n);" in found[0].source


PROGRAM = r"""
#include <iostream>
#include <cmath>
#include <map>
#include <vector>
#include <string>
#include <algorithm>
using namespace std;

string shorten(const string &text) {
    string out;
    for (char c : text) out = out + c + "'" + 'x';
    string kept;
    for (size_t i = 0; i < out.size(); i++) if (out.substr(i, 1) != "'") kept = kept + out.substr(i, 1);
    while (kept.size() > 9 && kept.substr(kept.size() - 1) == "x") kept = kept.substr(0, kept.size() - 1);
    kept = kept.substr(0, kept.size() / 2 + 9);
    kept = kept.substr(1);
    return kept;
}

double far(const vector<double> &xs, double a, int n) {
    double s = 0;
    for (int i = 0; i < n; i++) s += pow(xs[i] - a, 2) + std::pow(a, 3) + pow(n, 4);
    for (int i = 2; i <= sqrt(n); i++) for (int j = 0; j < 3; j++) s += std::exp(a / n) * j + sqrt(i);
    return s;
}

int main() {
    vector<int> q;
    vector<int> known;
    q.push_back(3);
    int total = 0;
    map<int, int> m;
    while (!q.empty()) {
        int x = q.front();
        q.erase(q.begin());
        if (find(known.begin(), known.end(), x) != known.end()) continue;
        known.push_back(x);
        if (m.count(x)) total += m[x]; else m[x] = 7;
        if (m.find(x) != m.end()) { m[x] += 1; total += m.at(x); }
        if (x < 50) { q.push_back(x * 2 % 31); q.push_back(x + 1); q.insert(q.begin(), x - 1 < 0 ? 4 : x - 1); }
    }
    for (int i = 0; i < 4; i++) if (std::find(known.begin(), known.end(), i) == known.end()) total--;
    cout << total << " " << known.size() << " " << shorten("it's a test") << " " << far({1, 2, 3}, 1.5, 3) << "\n";
}
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
@pytest.mark.corpus(one_in=8)
def test_the_program_with_all_of_them_answers_like_the_old_one(tmp_path):
    def answer(source, name):
        path = tmp_path / f"{name}.cpp"
        path.write_text(source)
        subprocess.run(["g++", "-O1", "-w", "-o", path.with_suffix(""), path], check=True)
        return subprocess.run([path.with_suffix("")], capture_output=True, text=True, check=True, timeout=10).stdout

    names = {name for name, *_ in FIRES.values()}
    source = textwrap.dedent(PROGRAM)
    for edit in EDITS:
        if edit.name in names:
            count = 0
            while found := next(edit.propose(Brief("cpp", "program", None, source)), None):
                source, count = found.source, count + 1
                assert count < 9
            assert count > 0, edit.name
    old = answer(textwrap.dedent(PROGRAM), "old")
    assert len(old) > 20
    assert answer(source, "new") == old
