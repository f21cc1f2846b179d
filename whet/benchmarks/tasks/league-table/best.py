"""Prints the table of a league from the results of its matches."""

import re
import sys

RESULT = re.compile(r"^(\S.*?) - (\S.*?) +(\d+):(\d+)\s*$")


class Team:
    __slots__ = ("name", "played", "points", "shot", "taken", "guests", "letters")

    def __init__(self, name):
        self.name = name
        self.played = self.points = self.shot = self.taken = self.guests = 0
        self.letters = []

    def add(self, shot, taken):
        won = 3 if shot > taken else shot == taken
        self.played += 1
        self.points += won
        self.shot += shot
        self.taken += taken
        self.letters.append("LD W"[won])

    def rank(self):
        return -self.points, self.taken - self.shot, -self.shot, -self.guests, self.name


def main():
    teams = {}
    played = others = goals = 0
    for line in sys.stdin:
        match = RESULT.match(line)
        if match is None or match[1] == match[2]:
            others += 1
            continue
        home, away, shot, taken = match.groups()
        shot, taken = int(shot), int(taken)
        played += 1
        goals += shot + taken
        if home not in teams:
            teams[home] = Team(home)
        if away not in teams:
            teams[away] = Team(away)
        teams[home].add(shot, taken)
        teams[away].add(taken, shot)
        teams[away].guests += taken
    out = []
    for place, team in enumerate(sorted(teams.values(), key=Team.rank), 1):
        form = "".join(team.letters[:-6:-1])
        out.append(f"{place:3} {team.name:20} {team.played:3} {team.shot:3}:{team.taken:<3} {team.points:4} {form}\n")
    out.append(f"{played} matches, {goals} goals, {others} other lines\n")
    sys.stdout.write("".join(out))


main()
