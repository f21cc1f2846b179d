"""The rungs before measuring, each in its own class, and which of them a task has."""
