"""What kind of win a change is (law 8)."""
