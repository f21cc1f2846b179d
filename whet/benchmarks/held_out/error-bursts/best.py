"""Looks for bursts of errors in a service's log."""

import re
from collections import Counter, deque
from datetime import datetime, timedelta

LINE = re.compile(r"(\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2},\d{3}) +([A-Z]+) +\[([\w.\-]+)\] (.*)$", re.ASCII)
HEX = re.compile(r"0x[0-9a-fA-F]+")
TEXT = re.compile(r'"[^"]*"')
NUMBER = re.compile(r"[0-9]+")
BLANKS = re.compile(r"  +")
LEVELS = {"ERROR", "FATAL", "CRITICAL"}


def report(text, window, threshold):
    width = timedelta(seconds=window)
    bursts = []
    burning = {}
    windows = {}
    messages = Counter()
    bad = 0
    for line in text.split("\n"):
        if not line:
            continue
        match = LINE.match(line)
        if match is None:
            bad += 1
            continue
        stamp, level, component, message = match.groups()
        time = datetime.fromisoformat(stamp)
        if level not in LEVELS:
            continue
        recent = windows.get(component)
        if recent is None:
            recent = windows[component] = deque()
        recent.append(time)
        earliest = time - width
        while recent[0] < earliest:
            recent.popleft()
        most = len(recent)
        burst = burning.get(component)
        if most < threshold:
            burning[component] = None
        elif burst is None:
            burst = {"component": component, "since": time.isoformat(), "most": most}
            bursts.append(burst)
            burning[component] = burst
        elif burst["most"] < most:
            burst["most"] = most
        messages[message] += 1
    alike = Counter()
    for message, count in messages.items():
        message = NUMBER.sub("<n>", TEXT.sub("<text>", HEX.sub("<hex>", message)))
        alike[BLANKS.sub(" ", message).strip(" ").lower()] += count
    counted = sorted(alike.items(), key=lambda pair: (-pair[1], pair[0]))
    return {"bursts": bursts, "messages": counted, "unreadable": bad}
