"""The C and C++ edits of input and output, and of the compiler's switches."""

from __future__ import annotations

import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest

from whet.agents.catalogue.cpp.clang_tidy import CHECKS
from whet.agents.catalogue.registry import EDITS
from whet.agents.models.base import Brief
from whet.evaluators.labels.registry import labels as derived_labels

FIRES = {
    "characters without locks": (
        "unlocked-stdio",
        "int f(FILE *in) { int c = std::getchar(); putchar(c); return fgetc(in); }",
        ["int c = getchar_unlocked(); putchar_unlocked(c); return getc_unlocked(in);"],
    ),
    "a wide buffer": (
        "output-buffer",
        '#include <stdio.h>\nint main(void) {\n    for (int i = 0; i < 9; i++) printf("%d", i);\n}',
        ["{\n    static char output_buffer[65536];\n    setvbuf(stdout, output_buffer, _IOFBF, sizeof"],
    ),
    "numbers from blocks by scanf": (
        "block-scan",
        '#include <cstdio>\nint main() { int n; long long m; if (std::scanf("%d %lld", &n, &m) != 2) return 1; }',
        ["if (read_long_long(read_int(0, 0, &n), 1, &m) != 2)", "static int read_number("],
    ),
    "numbers from blocks by a stream": (
        "block-input",
        "#include <string>\nint main() { std::cin.tie(0); int n; string s; std::cin >> n; std::getline(std::cin, s); }",
        ["std::cin.tie(0); int n; string s; block_input >> n; getline(block_input, s); }"],
    ),
    "output in blocks": (
        "block-output",
        '#include <iostream>\nusing namespace std;\nint main() { int left = 1; cout << left << "x" << std::endl; }',
        ["block_output << left << \"x\" << '\\n'; }", "#include <charconv>"],
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
    "threads share the stream": ("unlocked-stdio", "void f() { std::thread t(g); putchar('x'); }"),
    "a function of the file has the name": ("unlocked-stdio", "int getc(int c) { return c; } int x = getc(3);"),
    "it is a method": ("unlocked-stdio", "int f(Reader &r) { return r.getc(0); }"),
    "it flushes": ("output-buffer", 'int main() { for (;;) { printf("x"); fflush(stdout); } }'),
    "there is no main": ("output-buffer", 'void f() { for (;;) printf("x"); }'),
    "words are read": ("block-scan", 'int main() { char s[9]; int n; scanf("%d", &n); scanf("%s", s); }'),
    "other characters are expected": ("block-scan", 'int main() { int a, b; scanf("%d,%d", &a, &b); }'),
    "a width is given": ("block-scan", 'int main() { int a; scanf("%3d", &a); }'),
    "the format is not known": ("block-scan", "int main() { int a; scanf(form, &a); }"),
    "an argument is missing": ("block-scan", 'int main() { int a; scanf("%d %d", &a); }'),
    "characters are read beside": ("block-scan", 'int main() { int a; scanf("%d", &a); getchar(); }'),
    "its names are taken": ("block-scan", 'int read_int(); int main() { int a; scanf("%d", &a); }'),
    "single characters are asked for": ("block-input", "int main() { int n; cin >> n; cin.ignore(); }"),
    "stdin is read by scanf": ("block-input", 'int main() { int n; cin >> n; scanf("%d", &n); }'),
    "the stream is handed on": ("block-input", "int main() { int n; cin >> n; g(cin); }"),
    "a type is read by its own operator": (
        "block-input",
        "istream &operator>>(istream &in, P &p) { return in >> p.x; }\nint main() { P p; cin >> p; }",
    ),
    "lines end otherwise": ("block-input", "int main() { string s; getline(cin, s, ';'); }"),
    "numbers are hexadecimal": ("block-input", "int main() { int n; cin >> hex >> n; }"),
    "code may be left out": ("block-input", "#ifdef X\n#include <a>\n#endif\nint main() { int n; cin >> n; }"),
    "numbers are formatted": ("block-output", "int main() { cout << fixed << setprecision(2) << 1.0; }"),
    "the stream is formatted": ("block-output", "int main() { cout.precision(3); cout << 1.0; }"),
    "a type is written by its own operator": (
        "block-output",
        "struct P {}; auto &operator<<(S &s, P p) { return s; }\nint main() { cout << P(); }",
    ),
    "stdout is written by printf": ("block-output", 'int main() { cout << 1; printf("x"); }'),
    "output is flushed": ("block-output", "int main() { cout << 1 << flush; }"),
    "the program ends at once": ("block-output", "int main() { cout << 1; _exit(0); }"),
    "there is no loop": ("pragma", "int main() { return 0; }"),
}


@pytest.mark.parametrize("case", KEEPS_OFF)
def test_it_keeps_off_where(propose, case):
    name, source = KEEPS_OFF[case]
    assert propose(name, source, language="cpp") == []


LOOP = "#include <cstdio>\nint main() { for (int i = 0; i < 9; i++) std::putchar('x'); }\n"


def test_pragmas_name_what_the_machine_has_and_are_labelled_as_flags(propose):
    found = propose("pragma", LOOP, language="cpp")
    flags = Path("/proc/cpuinfo").read_text().split()
    assert len(found) == (3 if "avx2" in flags else 1)
    assert '#pragma GCC optimize("O3,unroll-loops")\n' in found[0].source
    assert ('target("avx2' in found[0].source) == ("avx2" in flags)
    assert found[0].source.endswith(LOOP)
    labels = derived_labels("cpp", found[0].source, LOOP)
    assert [str(each.label) for each in labels] == ["compiler flag"]


def test_pragmas_are_set_once(propose):
    best = propose("pragma", LOOP, language="cpp")[0].source
    assert propose("pragma", best, language="cpp") == []


INPUTS = (
    "5 -1 9999999999 1.5e3 x hello  world\nab c\n\nend\n1 2 3\n-4 zz",
    "99999999999 1 1",
    "",
    "1 2 99999999999999999999 1 c d",
    "-2147483648 4294967295 1 1e 1 1",
    "+5 3 -9223372036854775808 -0 q w l\nend\n12\n13",
)
STREAMS = r"""
#include <iostream>
#include <string>
#include <vector>
using namespace std;
enum Kind { A, B };
int main() {
    cin.tie(nullptr);
    int n = 7; unsigned u = 7; long long big = 7; double d = 7; char c = '7'; string w, line;
    cin >> n >> u >> big >> d >> c >> w;
    getline(std::cin, line);
    std::cout << n << " " << u << ' ' << big << " " << d << c << w << "[" << line << "]" << std::endl;
    vector<bool> bits{true, false};
    cout << bits[0] << B << (n > 3) << 1e10 << " " << 0.1f << " " << 1.0 / 3 << " " << w.size() << string("x") << endl;
    while (getline(cin, line) && line != "end") cout << "<" << line << ">\n";
    int x = 0, sum = 0;
    while (cin >> x) { sum += x; cout << x << ","; }
    cout << "sum " << sum << " " << x << endl;
    if (!(cin >> w)) cout << "failed " << w << "\n";
}
"""
STDIO = r"""
#include <stdio.h>
static long sum = 0;
int main(void) {
    int n;
    unsigned u;
    long long big;
    int got = scanf("%d %u%lld", &n, &u, &big);
    printf("%d\n", got);
    if (got > 0) printf("%d ", n);
    if (got > 1) printf("%u ", u);
    if (got > 2) printf("%lld ", big);
    for (long x; scanf(" %ld", &x) == 1;) { sum += x; putchar('.'); }
    got = scanf("%d", &n);
    printf("%ld %d\n", sum, got);
    return 0;
}
"""
PROGRAMS = {
    "streams": ("cpp", STREAMS, ["block-input", "block-output", "pragma"], INPUTS),
    "stdio": (
        "c",
        STDIO,
        ["block-scan", "unlocked-stdio", "output-buffer", "pragma"],
        ("5 6 7 8 9", "", "x", "-5 -6 -99999999999 1 2 +3 x 4", "5 x", "3", " \n4\n 5 6\n", "5 - 6"),
    ),
}


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.corpus(one_in=8)
def test_a_program_with_all_of_them_answers_like_the_old_one(tmp_path, name):
    def built(source, name):
        path = tmp_path / f"{name}.{language}"
        path.write_text(source)
        subprocess.run(["gcc" if language == "c" else "g++", "-O1", "-w", "-o", path.with_suffix(""), path], check=True)
        return path.with_suffix("")

    def answer(program, text):
        done = subprocess.run([program], input=text, capture_output=True, text=True, check=False, timeout=10)
        return done.stdout, done.returncode

    language, given, edits, inputs = PROGRAMS[name]
    given = source = textwrap.dedent(given)
    for wanted in edits:
        edit = next(each for each in EDITS if each.name == wanted)
        source = next(edit.propose(Brief(language, "program", None, source))).source
    old, new = built(given, "old"), built(source, "new")
    for text in inputs:
        old_answer, new_answer = (answer(program, text) for program in (old, new))
        assert old_answer[0]
        assert old_answer == new_answer


TIDY = r"""
#include <string>
#include <vector>
#include <cstdio>
int sum(std::vector<int> values) {
    int total = 0;
    for (int value : values) total += value;
    return total;
}
int main() {
    std::vector<std::string> words{"a", "b"};
    for (const auto word : words) std::puts(word.c_str());
    std::printf("%d\n", sum({1, 2}));
}
"""


@pytest.mark.skipif(
    shutil.which("clang-tidy") is None or shutil.which("bwrap") is None, reason="no clang-tidy or no bubblewrap"
)
@pytest.mark.corpus(one_in=8)
def test_clang_tidy_mends_by_check_and_all_together(propose):
    found = propose("clang-tidy", TIDY, language="cpp")
    assert len(found) == 3
    assert "sum(const std::vector<int>& values)" in found[0].source
    assert "const auto& word" in found[1].source
    assert "const auto& word" in found[2].source
    assert "sum(const std::vector<int>& values)" in found[2].source
    assert found[0].line == 5
    assert found[0].why == f"clang-tidy's {CHECKS[0]}"


def test_clang_tidy_says_nothing_of_foreign_files(propose, tmp_path):
    secret = tmp_path / "secret.h"
    secret.write_text("int leaked(std::vector<int> values) { return values.size(); }\n")
    text = f'#include <vector>\n#include "{secret}"\nint sum(std::vector<int> values) {{ return values.size(); }}\n'
    assert all("leaked" not in each.source for each in propose("clang-tidy", text, language="cpp"))
    assert "leaked" in secret.read_text()
    assert "&" not in secret.read_text()


def test_clang_tidy_gives_nothing_for_what_does_not_compile(propose):
    assert propose("clang-tidy", "int sum(std::vector<int> values) { return values.size(); }", language="cpp") == []
