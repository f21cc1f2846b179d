"""A warehouse that gives out what expires first."""

from bisect import bisect_left, insort


class Warehouse:
    def __init__(self, lots):
        self.lots = []
        for item, lot, quantity, expires in lots:
            self.lots.append({"item": item, "lot": lot, "quantity": quantity, "expires": expires})

    def process(self, movements):
        shelves = {}  # item -> [expires, lot, place, lot's dict], sorted
        for place, lot in enumerate(self.lots):
            if lot["quantity"] > 0:
                shelves.setdefault(lot["item"], []).append((lot["expires"], lot["lot"], place, lot))
        for shelf in shelves.values():
            shelf.sort(key=lambda row: row[:3])
        swept = False
        kept_from = len(self.lots)  # lots without goods vanish at a pick: what came in later is still there
        shipped = []
        refused = []
        try:
            for movement in movements:
                kind, day, item, quantity = movement[:4]
                if kind == "in":
                    lot = {"item": item, "lot": movement[4], "quantity": quantity, "expires": movement[5]}
                    if quantity > 0:
                        row = (lot["expires"], lot["lot"], len(self.lots), lot)
                        insort(shelves.setdefault(item, []), row, key=lambda row: row[:3])
                    self.lots.append(lot)
                elif kind == "out":
                    shelf = shelves.get(item, [])
                    first = bisect_left(shelf, day, key=lambda row: row[0])
                    stock = sum([row[3]["quantity"] for row in shelf[first:]])
                    if stock < quantity:
                        refused.append((movement[4], item, quantity - stock))
                        continue
                    picked = []
                    last = first
                    while quantity > 0:
                        lot = shelf[last][3]
                        taken = min(quantity, lot["quantity"])
                        lot["quantity"] -= taken
                        quantity -= taken
                        picked.append((lot["lot"], taken))
                        last += not lot["quantity"]
                    if picked:
                        swept = True
                        kept_from = len(self.lots)
                    del shelf[first:last]
                    shipped.append((movement[4], item, picked))
                else:
                    raise ValueError(f"no such movement: {kind}")
        finally:
            if swept:
                self.lots = [lot for lot in self.lots[:kept_from] if lot["quantity"] > 0] + self.lots[kept_from:]
        return shipped, refused
