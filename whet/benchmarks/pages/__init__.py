"""What whet's HTML pages share: one style, one way to put out what strangers wrote, axes and diffs."""
