"""A warehouse that gives out what expires first."""


class Warehouse:
    """Lots of goods on the shelves.

    Args:
        lots: tuples of item, lot, quantity and the last day on which it may be sold.
    """

    def __init__(self, lots):
        self.lots = []
        for item, lot, quantity, expires in lots:
            self.lots.append({"item": item, "lot": lot, "quantity": quantity, "expires": expires})

    def usable_lots(self, item, day):
        """Returns the lots of an item that may still be sold, in the order in which they are given out."""
        usable = []
        for lot in self.lots:
            if lot["item"] == item and lot["expires"] >= day and lot["quantity"] > 0:
                usable.append(lot)
        return sorted(usable, key=lambda lot: (lot["expires"], lot["lot"]))

    def in_stock(self, item, day):
        return sum([lot["quantity"] for lot in self.usable_lots(item, day)])

    def pick(self, item, quantity, day):
        """Takes goods from the shelves; returns tuples of lot and quantity."""
        picked = []
        while quantity > 0:
            lot = self.usable_lots(item, day)[0]
            taken = min(quantity, lot["quantity"])
            lot["quantity"] -= taken
            quantity -= taken
            picked.append((lot["lot"], taken))
            self.lots = [lot for lot in self.lots if lot["quantity"] > 0]
        return picked

    def process(self, movements):
        """Books what comes in and goes out.

        Args:
            movements: tuples of kind, day, item, quantity and more: ``("in", day, item, quantity, lot, expires)``,
                ``("out", day, item, quantity, customer)``.

        Returns:
            What each customer got, as tuples of customer, item and picks, and the orders that could not be met as tuples
            of customer, item and what lacked. An order is met whole or not at all.
        """
        shipped = []
        refused = []
        for movement in movements:
            kind, day, item, quantity = movement[:4]
            if kind == "in":
                lot = {"item": item, "lot": movement[4], "quantity": quantity, "expires": movement[5]}
                self.lots.append(lot)
            elif kind == "out":
                if self.in_stock(item, day) < quantity:
                    refused.append((movement[4], item, quantity - self.in_stock(item, day)))
                else:
                    shipped.append((movement[4], item, self.pick(item, quantity, day)))
            else:
                raise ValueError(f"no such movement: {kind}")
        return shipped, refused
