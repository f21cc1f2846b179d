"""Runs answers by the rules of suites: the same sandbox as the ladder's, without its verdict."""
