"""``whet bench self packages``: functions of packages that nobody here wrote, loaded and judged as a user would."""
