"""Campaigns: long measurements of whet itself, which are resumed, and whose results state where they were taken."""
