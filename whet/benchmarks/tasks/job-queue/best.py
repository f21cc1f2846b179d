"""Simulates the queue of a printer.

Commands on stdin: `add ID PAGES`, `urgent ID PAGES` (goes to the front), `cancel ID`, `print` (takes the next job that
was not cancelled), `status ID`.
"""

import sys
from collections import deque


def main():
    waiting = deque()
    cancelled = set()
    done = set()
    jobs = 0
    out = []
    print = out.append
    pages = {}
    printed = 0
    for line in sys.stdin:
        words = line.split()
        if not words:
            continue
        command = words[0]
        if command == "add":
            waiting.append(words[1])
            pages[words[1]] = int(words[2])
        elif command == "urgent":
            waiting.appendleft(words[1])
            pages[words[1]] = int(words[2])
        elif command == "cancel":
            if words[1] in done:
                print(f"{words[1]} is already printed")
            else:
                cancelled.add(words[1])
        elif command == "print":
            while waiting:
                job = waiting.popleft()
                if job in cancelled:
                    continue
                done.add(job)
                jobs += 1
                printed += pages[job]
                print(f"{job} printed, {pages[job]} pages")
                break
            else:
                print("nothing to print")
        elif command == "status":
            if words[1] in done:
                print(f"{words[1]} done")
            elif words[1] in cancelled:
                print(f"{words[1]} cancelled")
            else:
                print(f"{words[1]} waiting among {len(waiting)}")
    print(f"{printed} pages in {jobs} jobs, {len(waiting)} left")
    sys.stdout.write("\n".join(out) + "\n")


main()
