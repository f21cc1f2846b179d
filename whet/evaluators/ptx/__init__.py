"""PTX as a target: what an edit of it does to the machine code, which needs no GPU to be seen."""
