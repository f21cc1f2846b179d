"""What models can learn from runs: training data from what is recorded, and a reward for what they write."""
