"""The main job on a whole repository: its hot functions one by one, each win a commit on a branch."""
