"""Native functions on which the edits of C and C++ functions fire, each with its contract."""

from __future__ import annotations

from dataclasses import dataclass

from whet.core.signature import Signature
from whet.evaluators.signature import SignatureTable, read_signature

HEADERS = "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n"


@dataclass(frozen=True)
class Case:
    """A function ``f``: its prototype, its body, what its contract says beside, and what one edit writes of it."""

    edit: str
    prototype: str
    body: str
    contract: dict[str, dict[str, object]]
    written: tuple[str, ...]

    @property
    def source(self) -> str:
        return f"{HEADERS}{self.prototype} {self.body}\n"

    @property
    def signature(self) -> Signature:
        table = {"prototype": self.prototype, "n": {"role": "size"}, **self.contract}
        return read_signature(SignatureTable.model_validate(table), "f", "test")


N = {"length": "n"}
SMALL = {"length": "n", "min": -9, "max": 9}
CASES = {
    "a byte is searched": Case(
        "vector-search",
        "int64_t f(const uint8_t *s, int64_t n, int32_t c)",
        "{\n    for (int64_t i = 0; i < n; i++)\n        if (s[i] == c)\n            return i;\n    return -1;\n}",
        {"s": {"length": "n", "max": 40}, "c": {"min": -2, "max": 300}},
        (
            "#ifdef __SSE2__\n#include <immintrin.h>\n#endif\n",
            "i_ahead += 32) {",
            "for (int64_t i = i_ahead; i < n; i++)",
        ),
    ),
    "one of two bytes ends a loop": Case(
        "vector-search",
        "int f(const char *s, int n)",
        r"{ int i; for (i = 0; i < n; i++) { if (s[i] == ',' || 0 == s[i]) break; } return i; }",
        {"s": {"length": "n", "min": -20, "max": 60}},
        ("int i_ahead = 0;\n#if", "#endif\nfor (i = i_ahead;", "_or_si128"),
    ),
    "arrays are compared": Case(
        "vector-search",
        "int64_t f(const int32_t *a, const int32_t *b, size_t n)",
        "{ if (n) for (size_t i = 0; i < n; ++i) if (a[i] != b[i]) { return i; } return -1; }",
        {"a": {"length": "n", "min": 3, "max": 3}, "b": {"length": "n", "min": 3, "max": 4}},
        ("if (n) { size_t i_ahead = 0;\n", " ^ 0xffff;", "#endif\n for (size_t i = i_ahead"),
    ),
    "equal bytes are counted": Case(
        "vector-count",
        "size_t f(const uint8_t *s, size_t n, uint8_t c)",
        "{\n    size_t count = 0;\n    for (size_t i = 0; i < n; i++) count += (s[i] == c);\n    return count;\n}",
        {"s": {"length": "n", "max": 5}, "c": {"max": 5}},
        ("_mm_sad_epu8",),
    ),
    "signed bytes are counted by a branch": Case(
        "vector-count",
        "int32_t f(const signed char *s, int n, int c)",
        "{ int count = 0; for (int i = 0; i < n; i++) { if (s[i] == c) count++; } return count; }",
        {"s": {"length": "n", "min": -3, "max": 3}, "c": {"min": -260, "max": 3}},
        ("(signed char)(c) == (c) &&",),
    ),
    "bits of a difference are counted": Case(
        "vector-popcount",
        "uint64_t f(const uint64_t *a, const uint64_t *b, size_t n)",
        "{ uint64_t s = 5; for (size_t i = 0; i < n; i++) { s += __builtin_popcountll(a[i] ^ b[i]); } return s; }",
        {"a": N, "b": N},
        ("_mm256_xor_si256(", "defined(__SSE2__) && !defined(__POPCNT__)"),
    ),
    "bits of bytes are counted": Case(
        "vector-popcount",
        "int32_t f(const uint8_t *a, int n)",
        "{ int sum = 0; for (int i = 0; i < n; i++) sum += __builtin_popcount(a[i]); return sum; }",
        {"a": N},
        ("i_ahead + 16 <= n",),
    ),
    "bits are counted by masks": Case(
        "vector-popcount",
        "int64_t f(const uint32_t *a, int n)",
        "{ int64_t count = 3; for (int i = 0; i < n; i++) { uint32_t x = a[i]; x -= x >> 1 & 0x55555555u; "
        "x = (x & 0x33333333) + (x >> 2 & 0x33333333); x = (x + (x >> 4)) & 0x0F0F0F0F; "
        "count += (int64_t)(x * 0x01010101 >> 24); } return count; }",
        {"a": N},
        ("i_ahead + 4 <= n",),
    ),
    "a sum wraps round": Case(
        "vector-sum",
        "int32_t f(const int32_t *a, const int32_t *b, int32_t k, int64_t n)",
        "{ uint32_t sum = 0; for (int64_t i = 0; i < n; i++) sum += (uint32_t)a[i] * (uint32_t)b[i] - k; "
        "return (int32_t)sum; }",
        {"a": N, "b": N, "k": {}},
        ("*(const lanes *)&a[i_ahead] * *(const lanes *)&b[i_ahead] - (unsigned)k;",),
    ),
    "a small sum wraps round": Case(
        "vector-small-dot",
        "int32_t f(const int8_t *a, const int8_t *b, int64_t n)",
        "{ uint32_t sum = 0; for (int64_t i = 0; i < n; i++) sum += (uint32_t)(a[i] * b[i]); return (int32_t)sum; }",
        {"a": N, "b": N},
        ("i_ahead += 16",),
    ),
    "running sums wrap round": Case(
        "vector-prefix-sum",
        "void f(const int32_t *in, int32_t *out, int64_t n)",
        "{ uint32_t s = 0; for (int64_t i = 0; i < n; i++) { s += (uint32_t)in[i]; out[i] = (int32_t)s; } }",
        {"in": N, "out": {"role": "out", "length": "n"}},
        ("_mm_storeu_si128((__m128i *)&out[i_ahead], run);",),
    ),
    "floats are added up": Case(
        "vector-sum",
        "float f(const float *a, const float *b, int64_t n)",
        "{ float sum = 0; for (int64_t i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]); return sum; }",
        {"a": SMALL, "b": SMALL},
        ("sums_3 += (*(const lanes *)&a[i_ahead + 3 * lanes_width] - ", "sum += sums_0[lane];"),
    ),
    "integers are added up": Case(
        "vector-sum",
        "uint32_t f(const uint32_t *a, const uint32_t *b, uint32_t k, int n)",
        "{ uint32_t sum = 1; for (int i = 0; i < n; i++) sum += k * a[i] + b[i]; return sum; }",
        {"a": N, "b": N, "k": {}},
        ("typedef unsigned lanes",),
    ),
    "products of bytes are added up": Case(
        "vector-small-dot",
        "int32_t f(const int8_t *a, const uint8_t *b, int n)",
        "{ int32_t sum = 0; for (int i = 0; i < n; i++) sum += (int32_t)a[i] * b[i]; return sum; }",
        {"a": N, "b": N},
        ("_mm_unpackhi_epi8(left, _mm_cmpgt_epi8(_mm_setzero_si128(), left))",),
    ),
    "products of short numbers are added up": Case(
        "vector-small-dot",
        "int32_t f(const int16_t *a, const int16_t *b, int n)",
        "{ int32_t sum = 0; for (int i = 0; i < n; i++) sum += a[i] * b[i]; return sum; }",
        {"a": {"length": "n", "min": -900, "max": 900}, "b": {"length": "n", "min": -900, "max": 900}},
        ("_mm_madd_epi16(left, right)",),
    ),
    "running sums are stored": Case(
        "vector-prefix-sum",
        "int32_t f(const int32_t *a, int32_t *out, int n)",
        "{ int32_t s = 7; for (int i = 0; i < n; i++) { s += a[i]; out[i] = s; } return s; }",
        {"a": {"length": "n", "min": -9999, "max": 9999}, "out": {"role": "out", "length": "n"}},
        ("s = _mm_cvtsi128_si32(carry);",),
    ),
    "running sums are stored before the element": Case(
        "vector-prefix-sum",
        "uint32_t f(uint32_t *a, int n)",
        "{ uint32_t s = 7; for (int i = 0; i < n; i++) { a[i] = s; s += a[i]; } return s; }",
        {"a": N},
        (),
    ),
    "counts become offsets": Case(
        "vector-prefix-sum",
        "uint32_t f(const uint32_t *a, uint32_t *out, int n)",
        "{ uint32_t s = 7; for (int i = 0; i < n; i++) { out[i] = s; s += a[i]; } return s; }",
        {"a": N, "out": {"role": "out", "length": "n"}},
        ("_mm_sub_epi32(run, own)",),
    ),
    "the largest is kept": Case(
        "several-accumulators",
        "float f(const float *a, int n)",
        "{ float most = -1; for (int i = 0; i < n; i++) { if (fabsf(a[i]) > most) most = fabsf(a[i]); } return most; }",
        {"a": SMALL},
        ("most_part_3 = (fabsf(a[i_ahead + 3])) > most_part_3 ?", "most_part_1 = most, most_part_2 = most,"),
    ),
    "the least is chosen": Case(
        "several-accumulators",
        "double f(const double *a, int n)",
        "{ double least = 99; for (int i = 1; i < n; i++) least = a[i] < least ? a[i] : least; return least; }",
        {"a": SMALL},
        ("int i_ahead = 1;", "for (int i = i_ahead; i < n; i++)"),
    ),
    "what is added up depends on the counter": Case(
        "several-accumulators",
        "double f(const double *a, int n)",
        "{ double sum = 0; for (int i = 0; i < n; i++) sum += a[n - 1 - i] * (2 * i + 1); return sum; }",
        {"a": SMALL},
        ("sum_part_2 += (a[n - 1 - (i_ahead + 2)] * (2 * (i_ahead + 2) + 1));",),
    ),
    "elements are kept": Case(
        "branch-free-select",
        "int32_t f(const int32_t *a, int32_t *out, int n, int32_t t)",
        "{ int k = 0; for (int i = 0; i < n; i++) if (a[i] > t) out[k++] = a[i]; return k; }",
        {"a": SMALL, "out": {"role": "out", "length": "n"}, "t": {"min": -9, "max": 9}},
        ("out[k] = keep ? a[i] : out[k]; k += keep; }",),
    ),
    "a branch stores one of two": Case(
        "branch-free-select",
        "void f(const int32_t *a, int32_t *out, int n)",
        "{ for (int i = 0; i < n; i++) { if (a[i] > 0) { out[i] = a[i]; } else { out[i] = -a[i]; } } }",
        {"a": SMALL, "out": {"role": "out", "length": "n"}},
        ("out[i] = (a[i] > 0) ? a[i] : -a[i]; }",),
    ),
    "a branch stores or leaves": Case(
        "branch-free-select",
        "void f(int32_t *a, int n)",
        "{ for (int i = 0; i < n; i++) if (a[i] > 4) a[i] = 4; }",
        {"a": SMALL},
        ("a[i] = (a[i] > 4) ? 4 : a[i];",),
    ),
    "a branch adds": Case(
        "branch-free-select",
        "int64_t f(const int32_t *a, int n)",
        "{ int64_t sum = 0; for (int i = 0; i < n; i++) if (a[i] & 1) sum -= a[i]; return sum; }",
        {"a": SMALL},
        ("sum -= (a[i] & 1) ? a[i] : 0;",),
    ),
    "a branch counts": Case(
        "branch-free-select",
        "int f(const double *a, int n)",
        "{ int count = 0; for (int i = 0; i < n; i++) { if (a[i] < 2.5) ++count; } return count; }",
        {"a": SMALL},
        ("count += (a[i] < 2.5) ? 1 : 0;",),
    ),
    "a line is added to another": Case(
        "vector-elementwise",
        "void f(float *y, const float *x, float a, int n)",
        "{\n    for (int i = 0; i < n; i++)\n        y[i] += a * x[i];\n}",
        {"y": SMALL, "x": SMALL, "a": {"min": -4, "max": 4}},
        (
            "const lanes made_1 = *(const lanes *)&y[i_ahead + lanes_width] + "
            "(a * *(const lanes *)&x[i_ahead + lanes_width]);",
        ),
    ),
    "buffers lie apart": Case(
        "restrict-pointers",
        "void f(const int32_t *a, int32_t* out, int n)",
        "{ for (int i = 0; i < n; i++) out[i] = a[0] + a[i]; }",
        {"a": {"length": "n + 1"}, "out": {"role": "out", "length": "n"}},
        ("const int32_t *{restrict} a, int32_t*{restrict} out",),
    ),
    "buffers are aligned": Case(
        "assume-aligned",
        "void f(float *a, int n)",
        "{\n    for (int i = 0; i < n; i++) a[i] = a[i] * a[i] + 1;\n}",
        {"a": {"length": "n", "align": 32, "min": -9, "max": 9}},
        ("{\n    a = (__typeof__(a))__builtin_assume_aligned(a, 32);\n    for",),
    ),
    "a body is written several times": Case(
        "unroll-pragma",
        "uint32_t f(const uint32_t *a, int n)",
        "{ uint32_t h = 1; for (int i = 0; i < n; i++) h = h * 31 + a[i]; return h; }",
        {"a": N},
        ("\n#pragma GCC unroll 4\nfor (int i = 0;",),
    ),
    "a function has flags of its own": Case(
        "function-flags",
        "uint32_t f(const uint32_t *a, int n)",
        "{ uint32_t h = 1; for (int i = 0; i < n; i++) h ^= a[i] >> (h & 7); return h; }",
        {"a": N},
        ('__attribute__((optimize("no-tree-vectorize"))) uint32_t f(',),
    ),
}
KEEPS_OFF = {
    "the loop does more than search": (
        "vector-search",
        "long f(const char *s, long n) { long k = 0; for (long i = 0; i < n; i++) { if (s[i] == 0) return k; k++; } }",
    ),
    "the search goes on": (
        "vector-search",
        "void f(char *s, long n) { for (long i = 0; i < n; i++) if (s[i] == 9) s[i] = 0; }",
    ),
    "what is searched for changes": (
        "vector-search",
        "long f(char *s, long n) { for (long i = 0; i < n; i++) if (s[i] == s[i + 1]) return i; return 0; }",
    ),
    "a number that no byte holds may be unequal": (
        "vector-search",
        "long f(const char *s, long n, int c) { for (long i = 0; i < n; i++) if (s[i] != c) return i; return 0; }",
    ),
    "the bound moves": (
        "vector-search",
        "long f(const char *s, long n) { for (long i = 0; i < n; i++) if (s[i] == 3) { n--; break; } return n; }",
    ),
    "the loop counts by twos": (
        "vector-sum",
        "float f(const float *a, int n) { float s = 0; for (int i = 0; i < n; i += 2) s += a[i]; return s; }",
    ),
    "a sum is wider than its elements": (
        "vector-sum",
        "double f(const float *a, int n) { double s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }",
    ),
    "short numbers become int": (
        "vector-sum",
        "short f(const short *a, int n) { short s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }",
    ),
    "a sum behind a pointer may be an element": (
        "vector-sum",
        "void f(float *s, const float *a, int n) { for (int i = 0; i < n; i++) s[0] += a[i]; }",
    ),
    "neighbours are read": (
        "vector-elementwise",
        "void f(float *y, int n) { for (int i = 1; i < n; i++) y[i] = y[i] + y[i - 1]; }",
    ),
    "signed bytes have more bits than they show": (
        "vector-popcount",
        "int f(const signed char *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += __builtin_popcount(a[i]); }",
    ),
    "masks of another size count nothing": (
        "vector-popcount",
        "long f(const uint64_t *a, int n) { long s = 0; for (int i = 0; i < n; i++) { uint64_t x = a[i]; "
        "x -= x >> 1 & 0x55555555; x = (x & 0x33333333) + (x >> 2 & 0x33333333); s += x & 0x0f0f0f0f; } return s; }",
    ),
    "the upper half is not counted": (
        "vector-popcount",
        "int f(const long *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += __builtin_popcount(a[i]); }",
    ),
    "the sum is wider than the products": (
        "vector-small-dot",
        "long f(const short *a, const short *b, int n) { long s = 0; for (int i = 0; i < n; i++) s += a[i] * b[i]; }",
    ),
    "a step depends on the one before": (
        "several-accumulators",
        "double f(const double *a, int n) { double s = 1; for (int i = 0; i < n; i++) s += a[i] * s; return s; }",
    ),
    "a step has an effect": (
        "several-accumulators",
        "double f(double *a, int n) { double s = 1; int k = 0; for (int i = 0; i < n; i++) s += a[k++]; return s; }",
    ),
    "a step calls what is not known": (
        "several-accumulators",
        "double f(int n) { double s = 1; for (int i = 0; i < n; i++) s += next(); return s; }",
    ),
    "the branch has an effect": (
        "branch-free-select",
        "int f(int *a, int n) { int s = 0; for (int i = 0; i < n; i++) if (a[i]) s += g(); return s; }",
    ),
    "the branch leaves": ("branch-free-select", "int f(int *a, int n) { for (;;) if (a[n]) return 1; }"),
    "a float would lose its sign of zero": (
        "branch-free-select",
        "float f(float *a, int n) { float s = 0; for (int i = 0; i < n; i++) if (a[i] > 0) s += a[i]; return s; }",
    ),
    "a branch outside all loops": ("branch-free-select", "int f(int a, int b) { int s = b; if (a) s += b; return s; }"),
    "loops hold loops": (
        "unroll-pragma",
        "void f(int *a, int n) { for (int i = 0; i < n; i++) while (a[i]) a[i] >>= 1; }",
    ),
    "a loop is unrolled already": (
        "unroll-pragma",
        "void f(int *a, int n) {\n#pragma GCC unroll 2\nfor (int i = 0; i < n; i++) a[i] = 1; }",
    ),
}
