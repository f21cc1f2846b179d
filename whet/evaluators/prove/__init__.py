"""Whether two compiled functions are equivalent under a contract, found by symbolic execution.

``prove.prove`` is what the ladder calls. The engines (angr, Triton, z3) are the optional extra ``prove``; only the
child process that ``worker`` is ever imports them.
"""
