import io

sizes = [2, 20, 100]


def make_input(size, rng):
    lines = "".join(f"{rng.choice('abcdefgh')}{i}:{rng.randrange(99)}\n" for i in range(size))
    return (io.StringIO(f"{lines}\nbody {rng.randrange(99)}\nmore\n"),)
