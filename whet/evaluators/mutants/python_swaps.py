"""What a mutant of Python code has instead of an operator or a name."""

from __future__ import annotations

import libcst as cst

ARITHMETIC: dict[type, tuple[type, ...]] = {
    cst.Add: (cst.Subtract,),
    cst.Subtract: (cst.Add,),
    cst.Multiply: (cst.Add, cst.Divide),
    cst.Divide: (cst.Multiply, cst.FloorDivide),
    cst.FloorDivide: (cst.Multiply, cst.Divide),
    cst.Modulo: (cst.FloorDivide, cst.Multiply),
    cst.Power: (cst.Multiply,),
    cst.MatrixMultiply: (cst.Multiply,),
    cst.LeftShift: (cst.RightShift,),
    cst.RightShift: (cst.LeftShift,),
    cst.BitAnd: (cst.BitOr,),
    cst.BitOr: (cst.BitAnd,),
    cst.BitXor: (cst.BitAnd,),
}
ASSIGNED: dict[type, type] = {
    cst.AddAssign: cst.SubtractAssign,
    cst.SubtractAssign: cst.AddAssign,
    cst.MultiplyAssign: cst.AddAssign,
    cst.DivideAssign: cst.MultiplyAssign,
    cst.FloorDivideAssign: cst.MultiplyAssign,
    cst.ModuloAssign: cst.MultiplyAssign,
    cst.BitAndAssign: cst.BitOrAssign,
    cst.BitOrAssign: cst.BitAndAssign,
    cst.BitXorAssign: cst.BitAndAssign,
    cst.LeftShiftAssign: cst.RightShiftAssign,
    cst.RightShiftAssign: cst.LeftShiftAssign,
}
COMPARED: dict[type, tuple[type, ...]] = {
    cst.LessThan: (cst.LessThanEqual, cst.GreaterThanEqual),
    cst.LessThanEqual: (cst.LessThan, cst.GreaterThan),
    cst.GreaterThan: (cst.GreaterThanEqual, cst.LessThanEqual),
    cst.GreaterThanEqual: (cst.GreaterThan, cst.LessThan),
    cst.Equal: (cst.NotEqual,),
    cst.NotEqual: (cst.Equal,),
    cst.In: (cst.NotIn,),
    cst.NotIn: (cst.In,),
    cst.Is: (cst.IsNot,),
    cst.IsNot: (cst.Is,),
}
TWINS = {
    "min": ("max",), "max": ("min",), "any": ("all",), "all": ("any",), "sorted": ("list",), "set": ("list",),
    "startswith": ("endswith",), "endswith": ("startswith",), "lower": ("upper",), "upper": ("lower",),
    "strip": ("lstrip", "rstrip"), "lstrip": ("strip",), "rstrip": ("strip",), "find": ("rfind",), "rfind": ("find",),
    "partition": ("rpartition",), "rpartition": ("partition",), "append": ("extend",), "add": ("discard",),
    "match": ("search", "fullmatch"), "search": ("match",), "keys": ("values",), "values": ("keys",),
    "floor": ("ceil",), "ceil": ("floor",), "argmin": ("argmax",), "argmax": ("argmin",), "cumsum": ("cumprod",),
    "popleft": ("pop",), "appendleft": ("append",), "bisect_left": ("bisect_right",),
    "bisect_right": ("bisect_left",), "heappush": ("heappop",), "mean": ("sum",), "sum": ("max",),
}  # fmt: skip
"""Names that are easily taken for each other."""
