"""The record of a verdict, its bundle, and how another machine repeats it."""
