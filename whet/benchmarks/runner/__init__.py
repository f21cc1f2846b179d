"""``whet bench run``: problems of any suite, answered, judged by its own rule and by whet, and kept as rows."""
