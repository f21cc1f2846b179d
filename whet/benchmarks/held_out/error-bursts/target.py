"""Looks for bursts of errors in a service's log."""

import re
from datetime import datetime, timedelta


def parse_line(line):
    """Splits a line into time, level, component and message; None where it is no log line."""
    match = re.match(r"^(\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}),(\d{3}) +([A-Z]+) +\[([\w.\-]+)\] (.*)$", line, re.ASCII)
    if not match:
        return None
    time = datetime.strptime(match.group(1), "%Y-%m-%d %H:%M:%S")
    time = time + timedelta(milliseconds=int(match.group(2)))
    return {"time": time, "level": match.group(3), "component": match.group(4), "message": match.group(5)}


def normalise(message):
    """Replaces what differs from one occurrence of a message to the next."""
    message = re.sub(r"0x[0-9a-fA-F]+", "<hex>", message)
    message = re.sub(r'"[^"]*"', "<text>", message)
    message = re.sub(r"[0-9]+", "<n>", message)
    message = re.sub(r" +", " ", message)
    return message.strip(" ").lower()


def report(text, window, threshold):
    """Finds the bursts: `threshold` errors of one component or more, within `window` seconds before the last of them.

    Args:
        text: the log, in the order of time.
        window: seconds.
        threshold: errors.

    Returns:
        A dict of bursts (component, time of the error that began it, most errors within a window), the messages of all
        errors with how often each came (the most frequent first), and the number of lines that could not be read.
    """
    errors = []
    bad = 0
    for line in text.split("\n"):
        if line == "":
            continue
        parsed = parse_line(line)
        if parsed is None:
            bad += 1
        elif parsed["level"] in ["ERROR", "FATAL", "CRITICAL"]:
            errors.append(parsed)

    bursts = []
    burning = {}
    for i in range(len(errors)):
        error = errors[i]
        earliest = error["time"] - timedelta(seconds=window)
        recent = [e for e in errors[: i + 1] if e["component"] == error["component"] and e["time"] >= earliest]
        if len(recent) >= threshold:
            if error["component"] in burning:
                burst = burning[error["component"]]
                burst["most"] = max(burst["most"], len(recent))
            else:
                burst = {"component": error["component"], "since": error["time"].isoformat(), "most": len(recent)}
                bursts.append(burst)
                burning[error["component"]] = burst
        elif error["component"] in burning:
            del burning[error["component"]]

    messages = [normalise(error["message"]) for error in errors]
    counted = []
    for message in messages:
        if message not in [m for m, _ in counted]:
            counted.append((message, messages.count(message)))
    counted = sorted(counted, key=lambda pair: (-pair[1], pair[0]))
    return {"bursts": bursts, "messages": counted, "unreadable": bad}
