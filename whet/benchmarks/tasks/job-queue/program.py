"""Simulates the queue of a printer.

Commands on stdin: `add ID PAGES`, `urgent ID PAGES` (goes to the front), `cancel ID`, `print` (takes the next job that
was not cancelled), `status ID`.
"""

import sys


def main():
    waiting = []
    cancelled = []
    done = []
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
            waiting.insert(0, words[1])
            pages[words[1]] = int(words[2])
        elif command == "cancel":
            if words[1] in done:
                print(f"{words[1]} is already printed")
            else:
                cancelled.append(words[1])
        elif command == "print":
            while waiting:
                job = waiting.pop(0)
                if job in cancelled:
                    continue
                done.append(job)
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
    print(f"{printed} pages in {len(done)} jobs, {len(waiting)} left")


main()
