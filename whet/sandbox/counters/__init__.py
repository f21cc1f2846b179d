"""What can be counted on this machine: one file a source."""
