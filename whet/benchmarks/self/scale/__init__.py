"""``whet bench self scale``: what work costs that is done elsewhere, and how much of it one driver can hand out."""
