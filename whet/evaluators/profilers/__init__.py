"""What finds hot spots: one file a tool. Each answers with an empty profile and a note where it cannot."""
