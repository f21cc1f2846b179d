"""The Python edits that change how time grows: what they write, and that old and new behave alike on random inputs."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

NUMBERS = st.lists(st.integers(-5, 5), max_size=12)
SIZES = st.integers(0, 14)
PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(-9, 9)), max_size=10)

SAMPLES = {
    "nested-loop-join": (
        """
        RATES = [(0, "none"), (1, "half"), (1, "double"), (3, "full")]
        def rate(kind):
            for number, name in RATES:
                if number == kind:
                    return name
            return "?"

        def f(people, orders):
            found = []
            for number, name in people:
                # theirs
                for buyer, price in orders:
                    if buyer == number and price > 0:
                        found.append((name, price))
                for place, order in enumerate(orders):
                    if order[0] != number:
                        continue
                    found.append((rate(number), place))
                for i in range(len(orders)):
                    if orders[i][0] == number and orders[i][1] == name:
                        found.append(i)
                        break
                else:
                    found.append("none")
            totals = {n: sum(price for buyer, price in orders if buyer == n) for n, _ in people}
            firsts = [next((o for o in orders if o and o[0] == n), None) for n, _ in people]
            return found, totals, firsts, [(a, b) for a in people for b in orders if b[0] == a[0] and a[1] < b[1]]
        """,
        st.tuples(PAIRS, PAIRS),
        7,
        {
            "RATES_BY_NUMBER.setdefault(number, []).append((number, name))\n",
            "for number, name in RATES_BY_NUMBER.get(kind, ()):\n        return name\n",
            "    orders_by_buyer = {}\n    for buyer, price in orders:\n",
            "for buyer, price in orders_by_buyer.get(number, ()):\n            if price > 0:\n",
            "for place, order in orders_by_key.get(number, ()):\n            found.append((rate",
            "for i in orders_by_key.get((number, name), ()):\n            found.append(i)\n            break\n",
            "sum(price for buyer, price in orders_by_buyer.get(n, ()))",
            "        if o:\n            orders_by_key.setdefault(o[0], []).append(o)",
            "for a in people for b in orders_by_key.get(a[0], ()) if a[1] < b[1]]",
        },
    ),
    "first-positions": (
        """
        LEVELS = ["low", "mid", "high", "mid"]
        def level(text):
            return LEVELS.index(text)

        def f(xs, ys):
            known = [y for y in ys if y in xs]
            places = []
            for y in ys:
                if y in xs:
                    places.append(xs.index(y))
            return places, sorted(known, key=xs.index), level("mid")
        """,
        st.tuples(NUMBERS, NUMBERS),
        3,
        {
            "LEVELS_positions = {each: place for place, each in reversed([*enumerate(LEVELS)])}\n",
            "return LEVELS_positions[text]",
            "if y in xs_positions:\n            places.append(xs_positions[y])",
            "sorted(known, key=xs_positions.__getitem__)",
        },
    ),
    "prefix-sums": (
        """
        def f(xs, k):
            rows = []
            for i in range(len(xs)):
                before, after = sum(xs[:i]), sum(xs[i + 1 :])
                rows.append((before == after, sum(xs[i : i + k]), max(xs[: i + 1]), min(xs[: i + k + 1])))
            for i in range(2, len(xs)):
                rows.append(sum(xs[max(0, i - k) : i]) - sum(xs[i - 2 : i]))
            return rows, [sum(xs[a:b]) for a in range(9) for b in range(a, 14)]
        """,
        st.tuples(NUMBERS, SIZES),
        3,
        {
            "before, after = xs_sums[i], (xs_sums[-1] - xs_sums[i + 1])",
            "(xs_sums[min(i + k, len(xs))] - xs_sums[i]), max(",
            "xs_maxima[i], min(",
            "xs_minima = [*accumulate(xs, min)]",
            "[(xs_sums[min(b, len(xs))] - xs_sums[min(a, len(xs))]) for a in",
        },
    ),
    "total-of-growing-list": (
        """
        def f(xs, limit):
            taken = []
            seen = []
            for x in xs:
                if sum(taken) + x <= limit:
                    taken.append(x)
                if len(taken) > 1 and max(taken) - min(taken) > 4:
                    seen.append(sum(taken))
            return taken, seen, sum(taken)
        """,
        st.tuples(NUMBERS, SIZES),
        3,
        {
            "taken_sum = 0\n",
            "            taken.append(x)\n            taken_sum += taken[-1]\n",
            "taken_max = taken[-1] if len(taken) == 1 else max(taken_max, taken[-1])",
            "return taken, seen, taken_sum",
        },
    ),
    "sort-for-extreme": (
        """
        def f(xs, pairs, k):
            ordered = sorted(pairs, key=lambda pair: pair[0])
            two = ordered[:2]
            first = ordered[0] if ordered else None
            ranked = sorted((x % 3 for x in xs), reverse=True)
            ends = (sorted(xs)[0], sorted(xs)[-1], sorted(pairs, key=abs_of, reverse=True)[0]) if xs and pairs else ()
            return two, first, ranked[:k], ends, sorted(pairs, key=abs_of)[:k]

        def abs_of(pair):
            return abs(pair[1])
        """,
        st.tuples(NUMBERS, PAIRS, SIZES),
        6,
        {
            "ordered = nsmallest(2, pairs, key=lambda pair: pair[0])",
            "ranked = nlargest(k, (x % 3 for x in xs))",
            "ends = (min(xs), ",
            ", max(xs), ",
            "max(pairs, key=abs_of)) if",
            "nsmallest(k, pairs, key=abs_of)",
        },
    ),
    "heap-for-minimum": (
        """
        def f(xs, pairs):
            order = []
            queue = [(0, 0)]
            while queue:
                queue.sort()
                d, x = queue.pop(0)
                order.append((d, x))
                if len(order) < 20:
                    for more, y in pairs:
                        queue.append((d + abs(more) + 1, y))
            jobs = list(pairs)
            while len(jobs) > 2:
                jobs.sort(key=lambda job: job[0])
                job = jobs.pop(0)
                order.append(job)
                if job[0] < 3:
                    jobs.append((job[0] + 1, job[1] - len(jobs)))
            sizes = [*xs, 1]
            while len(sizes) > 1:
                a = min(sizes)
                sizes.remove(a)
                b = min(sizes)
                sizes.remove(b)
                sizes.append(a + b)
            return order, sizes[0]
        """,
        st.tuples(NUMBERS, PAIRS),
        3,
        {
            "        d, x = heappop(queue)\n",
            "heappush(queue, (d + abs(more) + 1, y))",
            "jobs = [(jobs_key(each), next(jobs_came), each) for each in list(pairs)]\n    heapify(jobs)\n",
            "        job = heappop(jobs)[2]\n",
            "    heapify(sizes)\n",
            "        a = heappop(sizes)\n        b = heappop(sizes)\n        heappush(sizes, a + b)\n",
        },
    ),
    "insert-in-order": (
        """
        def f(xs, pairs):
            medians = []
            seen = []
            best = sorted(pairs, key=lambda pair: pair[0])
            for x in xs:
                # keep the order
                seen.append(x)
                seen.sort()
                medians.append(seen[len(seen) // 2])
                if len(seen) > 5:
                    seen.pop(0)
                best.append((x, len(best)))
                best.sort(key=lambda pair: pair[0])
            return medians, seen, best
        """,
        st.tuples(NUMBERS, PAIRS),
        2,
        {
            "        # keep the order\n        insort(seen, x)\n        medians",
            "insort(best, (x, len(best)), key=lambda pair: pair[0])",
        },
    ),
    "count-by-bisect": (
        """
        def f(xs, ys, k):
            out = []
            for y in ys:
                rank = 1
                for x in xs:
                    if x < y:
                        rank += 1
                out.append((rank, sum(1 for x in xs if y <= x and x < y + k), len([x for x in xs if y < x])))
            return out, [sum(x >= y for x in xs) for y in ys], [sum(1 for x in xs if y - k < x <= y) for y in ys]
        """,
        st.tuples(NUMBERS, NUMBERS, st.integers(-3, 5)),
        5,
        {
            "rank += bisect_left(xs_sorted, y)\n",
            "max(0, bisect_left(xs_sorted, y + k) - bisect_left(xs_sorted, y))",
            "(len(xs_sorted) - bisect_right(xs_sorted, y))",
            "[(len(xs_sorted) - bisect_left(xs_sorted, y)) for y in ys]",
            "max(0, bisect_right(xs_sorted, y) - bisect_right(xs_sorted, y - k))",
        },
    ),
    "membership-of-made-list": (
        """
        CODES = [("a", 1), ("b", 2)]
        def f(pairs, xs):
            out = []
            table = dict(pairs)
            for x in xs:
                if x in [key for key, value in pairs if value > 0] or x not in [number for _, number in CODES]:
                    out.append(x)
                if any(key == -x for key, _ in pairs) and x not in list(table.keys()):
                    out.append(-x)
                if x in sorted(xs):
                    out.append(x in tuple(table))
            return out
        """,
        st.tuples(PAIRS, NUMBERS),
        6,
        {
            "    pairs_set = {key for key, value in pairs if value > 0}\n    for x in xs:\n        if x in pairs_set",
            "CODES_SET = {number for _, number in CODES}\n",
            "if ((-x) in pairs_set) and x not in",
            "and x not in table:",
            "if x in xs:",
            "out.append(x in table)",
        },
    ),
    "append-in-place": (
        """
        class Log:
            def __init__(self):
                self.lines = []
            def add(self, line):
                self.lines = self.lines + [line]

        def f(xs, pairs):
            out, back, log = [], [], Log()
            out = []
            back = []
            groups = {}
            for key, value in pairs:
                if key not in groups:
                    groups[key] = []
                groups[key] = groups[key] + [value]
                out = out + [key] + [value, key]
                back = [value] + back
                log.add(key)
            return out, back, groups, log.lines
        """,
        st.tuples(NUMBERS, PAIRS),
        2,
        {"groups[key].append(value)", "self.lines.append(line)"},
    ),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_it_writes(propose, name):
    source, _, places, expected = SAMPLES[name]
    found = propose(name, source, symbol="f")
    assert len({proposal.source for proposal in found}) == len(found) == places
    for text in expected:
        assert any(text in proposal.source for proposal in found), text


@pytest.mark.corpus
@pytest.mark.parametrize("name", SAMPLES)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_old_and_new_agree(propose, outcome, name, data):
    source, inputs, *_ = SAMPLES[name]
    args = data.draw(inputs)
    expected = outcome(textwrap.dedent(source), args)
    for proposal in propose(name, source, symbol="f"):
        assert outcome(proposal.source, args) == expected
