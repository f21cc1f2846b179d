"""JSON values as the store holds them: compressed against what most of them have in common."""

from __future__ import annotations

import json
import zlib
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

COMPACT = json.JSONEncoder(separators=(",", ":"))
COMMON = (
    b'"origin":"catalogue:","note":"","source":"","labels":["algorithm","data structure","library call"],"'
    b'parent":"{"bottleneck":"line takes % of the time","evidence":["candidate 1: "],"directive":"","expec'
    b'ted_gain":,"confidence":,"stop":false,"by_rule":false,"unknown":[]}{"lines":[{"line":,"share":,"text'
    b'":""}],"functions":[{"name":"","own":,"total":,"file":""}],"model":"","memory":null,"source":"py-spy'
    b'","unit":"samples"}{"parent":"","batch":[""proposed":4,"complaints":[],"same":[],"repairs":[],"group'
    b's":[],"ended":"","message":""}{"name":"confirm","status":"failed","reason":"wrong_output","detail":"'
    b'expected ","seconds":0.0,"evidence":{"input":{"candidate":"","rungs":[{"name":"screen","status":"pas'
    b'sed","reason":null,"detail":"parses, and takes the same arguments","seconds":0.00,"evidence":{"hints'
    b'":[]}},{"name":"build","status":"passed","reason":null,"detail":"loads","seconds":0.0,"evidence":{}}'
    b',{"name":"test","status":"skipped","reason":"not_asked","detail":"nothing to check with","seconds":0'
    b'.00,"evidence":{}},{"name":"differential","status":"passed","reason":null,"detail":" fresh inputs ag'
    b'ree","seconds":0.,"evidence":{"inputs":,"seed":,"discarded":0,"hash_seed":,"strengthened":""}},{"nam'
    b'e":"hazard","status":"skipped","reason":"not_asked","detail":"nothing to check with","seconds":0.000'
    b',"evidence":{}},{"name":"prove","status":"skipped","reason":"not_asked","detail":"nothing to check w'
    b'ith","seconds":0.00000,"evidence":{}},{"name":"measure","status":"passed","reason":null,"detail":"",'
    b'"seconds":,"evidence":{"p_value":,"outcome":"faster"}}],"measurement":{"outcome":"not_shown","speedu'
    b'p":{"ratio":1.,"low":1.,"high":1.,"confidence":0.99,"metric":"time","processes":10,"samples":,"aa_ra'
    b'tio":[0.99,1.01],"baseline":"the original on CPython","workloads":[{"name":"size ","ratio":1.,"low":'
    b',"high":}],"cpu_seconds":null,"baselines":[],"rates":null},"p_value":0.,"disturbed":false,"note":"",'
    b'"resolution":1.,"labels":[],"untimed":[],"undecided":0,"beside":[],"unkept":"","over_limit":false,"r'
    b'aw":{}}}'
)
"""What values are likely to hold, the likeliest last. Part of the format: to change a byte of it makes another one."""


def pack(value: Any) -> bytes:
    """Returns a JSON value as it is stored."""
    packer = zlib.compressobj(zdict=COMMON)
    return packer.compress(_encoded(value)) + packer.flush()


def _encoded(value: Any) -> bytes:
    try:
        return to_json(value, inf_nan_mode="constants")  # a quarter of the time
    except PydanticSerializationError:  # half of a surrogate pair, which UTF-8 cannot write
        return COMPACT.encode(value).encode()


def unpack(data: bytes) -> Any:
    """Returns the JSON value that `pack` was given, now or before it knew what values have in common."""
    return json.loads(zlib.decompressobj(zdict=COMMON).decompress(data))
