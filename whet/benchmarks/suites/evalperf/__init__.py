"""EvalPerf: in which cluster of known solutions a right sample lies, by its instructions (DPS)."""

from whet.benchmarks.suites.evalperf.suite import SUITE

__all__ = ["SUITE"]
