"""What the suites of repositories share: rows beside prepared checkouts, patches applied and run in the sandbox."""
