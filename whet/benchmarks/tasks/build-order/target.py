"""Decides in which order the packages of a repository are built."""


def is_ready(package, order):
    """Tells whether everything that a package needs of this repository is built."""
    for need in package["needs"]:
        if need["name"] in order:
            continue
        if not need["external"]:
            return False
    return True


def mark_external(packages):
    """Returns the packages with each need told to be of this repository or not."""
    names = [package["name"] for package in packages]
    marked = []
    for package in packages:
        needs = []
        for name in package["needs"]:
            needs.append({"name": name, "external": name not in names})
        marked.append({"name": package["name"], "minutes": package["minutes"], "needs": needs})
    return marked


def finish_times(packages, order):
    """Returns when each package is built, if all that are ready are built at once."""
    finished = {}
    for name in order:
        package = [package for package in packages if package["name"] == name][0]
        start = 0
        for need in package["needs"]:
            if not need["external"]:
                start = max(start, finished[need["name"]])
        finished[name] = start + package["minutes"]
    return finished


def build_order(packages):
    """Plans a build: of the packages that are ready, the first by name is taken.

    Args:
        packages: dicts with ``name``, ``needs`` (names) and ``minutes``; names are distinct.

    Returns:
        The names in order, the minute at which each is done at the earliest, the names that wait for each other or for
        such packages, and needed names that no package has; the last two sorted.
    """
    packages = mark_external(packages)
    order = []
    waiting = sorted(packages, key=lambda package: package["name"])
    progress = True
    while waiting and progress:
        progress = False
        for package in waiting:
            if is_ready(package, order):
                order.append(package["name"])
                waiting.remove(package)
                progress = True
                break
    external = []
    for package in packages:
        for need in package["needs"]:
            if need["external"] and need["name"] not in external:
                external.append(need["name"])
    return order, finish_times(packages, order), [package["name"] for package in waiting], sorted(external)
