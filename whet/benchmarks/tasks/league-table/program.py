"""Prints the table of a league from the results of its matches.

Reads lines such as `Rovers - United 2:1` from stdin; others are counted. Teams are ranked by points (3 for a win, 1 for
a draw), then by the difference of goals, then by goals, then by goals as guests, then by name.
"""

import functools
import re
import sys


def parse(line):
    """Returns home team, guests and both numbers of goals, or None."""
    match = re.match(r"^(\S.*?) - (\S.*?) +(\d+):(\d+)\s*$", line)
    if not match:
        return None
    home, away, home_goals, away_goals = match.groups()
    return {"home": home, "away": away, "home_goals": int(home_goals), "away_goals": int(away_goals)}


def matches_of(team, matches):
    return [match for match in matches if match["home"] == team or match["away"] == team]


def goals(team, match):
    """Returns goals shot and goals taken."""
    if match["home"] == team:
        return match["home_goals"], match["away_goals"]
    return match["away_goals"], match["home_goals"]


def points(team, matches):
    total = 0
    for match in matches_of(team, matches):
        shot, taken = goals(team, match)
        if shot > taken:
            total += 3
        elif shot == taken:
            total += 1
    return total


def shot_and_taken(team, matches):
    shot = sum(goals(team, match)[0] for match in matches_of(team, matches))
    taken = sum(goals(team, match)[1] for match in matches_of(team, matches))
    return shot, taken


def goals_as_guests(team, matches):
    return sum(match["away_goals"] for match in matches_of(team, matches) if match["away"] == team)


def compare(one, other, matches):
    """Returns a negative number where the first team is ranked before the other."""
    if points(one, matches) != points(other, matches):
        return points(other, matches) - points(one, matches)
    shot, taken = shot_and_taken(one, matches)
    other_shot, other_taken = shot_and_taken(other, matches)
    if shot - taken != other_shot - other_taken:
        return (other_shot - other_taken) - (shot - taken)
    if shot != other_shot:
        return other_shot - shot
    if goals_as_guests(one, matches) != goals_as_guests(other, matches):
        return goals_as_guests(other, matches) - goals_as_guests(one, matches)
    return -1 if one < other else 1


def form(team, matches):
    """Returns the last five results, the newest first."""
    letters = ""
    for match in reversed(matches_of(team, matches)):
        shot, taken = goals(team, match)
        letters += "W" if shot > taken else "D" if shot == taken else "L"
    return letters[:5]


def main():
    matches = []
    others = 0
    for line in sys.stdin:
        match = parse(line)
        if match is None or match["home"] == match["away"]:
            others += 1
        else:
            matches.append(match)
    teams = []
    for match in matches:
        for team in (match["home"], match["away"]):
            if team not in teams:
                teams.append(team)
    teams.sort(key=functools.cmp_to_key(lambda one, other: compare(one, other, matches)))
    for place, team in enumerate(teams, 1):
        shot, taken = shot_and_taken(team, matches)
        played = len(matches_of(team, matches))
        print(f"{place:3} {team:20} {played:3} {shot:3}:{taken:<3} {points(team, matches):4} {form(team, matches)}")
    print(f"{len(matches)} matches, {sum(match['home_goals'] + match['away_goals'] for match in matches)} goals, {others} other lines")


main()
