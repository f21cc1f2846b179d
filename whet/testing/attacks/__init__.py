"""The attack corpus: what hostile code tries, as programs that do no harm where they get through."""
