import sys

def main():
    counts = {}
    for line in sys.stdin.read().split("\n"):
        for word in line.split(" "):
            if word.isalnum():
                clean = word.lower()
            else:
                clean = "".join([c.lower() for c in word if c.isalnum()])
                if not clean:
                    continue
            counts[clean] = counts.get(clean, 0) + 1
    ordered = sorted(counts.items(), key=lambda pair: pair[1], reverse=True)
    sys.stdout.write("".join([f"{c:5d} {w}\n" for w, c in ordered]))

main()
