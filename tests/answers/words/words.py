import sys

def main():
    text = sys.stdin.read()
    words = []
    for line in text.split("\n"):
        for word in line.split(" "):
            clean = ""
            for c in word:
                if c.isalnum():
                    clean += c.lower()
            if clean != "":
                words.append(clean)
    seen = []
    counts = []
    for w in words:
        if w in seen:
            counts[seen.index(w)] += 1
        else:
            seen.append(w)
            counts.append(1)
    pairs = list(zip(seen, counts))
    for i in range(len(pairs)):
        for j in range(len(pairs) - 1 - i):
            if pairs[j][1] < pairs[j + 1][1]:
                pairs[j], pairs[j + 1] = pairs[j + 1], pairs[j]
    for w, c in pairs:
        print(f"{c:5d} {w}")

main()
