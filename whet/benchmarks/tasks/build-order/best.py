"""Decides in which order the packages of a repository are built."""

from heapq import heapify, heappop, heappush


def build_order(packages):
    minutes = {package["name"]: package["minutes"] for package in packages}
    external = set()
    users = {name: [] for name in minutes}
    open_needs = {}
    start = dict.fromkeys(minutes, 0)
    for package in packages:
        needs = set(package["needs"])
        own = needs & minutes.keys()
        external |= needs - own
        open_needs[package["name"]] = len(own)
        for need in own:
            users[need].append(package["name"])
    ready = [name for name, left in open_needs.items() if not left]
    heapify(ready)
    order = []
    finished = {}
    while ready:
        name = heappop(ready)
        order.append(name)
        done = finished[name] = start[name] + minutes[name]
        for user in users[name]:
            if done > start[user]:
                start[user] = done
            open_needs[user] -= 1
            if not open_needs[user]:
                heappush(ready, user)
    return order, finished, sorted(minutes.keys() - finished.keys()), sorted(external)
