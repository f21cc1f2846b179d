"""The leaderboard: rows of ``whet bench run`` as a static site, and the check of rows that somebody submits."""
