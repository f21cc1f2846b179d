"""The cards of `whet/prompts/knowledge/hardware`: what a GPU can do at most, and what is found of the CPU here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, ValidationError

from whet.agents.knowledge import folder_texts, front_matter
from whet.core.circumstances import Circumstances
from whet.core.config import describe_invalid
from whet.prompts import one_line

VENDOR = "NVIDIA "
REGISTERS = 65536
"""Of a multiprocessor, 32 bits each, of every architecture that has a card."""
Number = Literal["fp64", "fp64_tensor", "fp32", "tf32", "bf16", "fp16", "fp8", "int8"]
WIDTHS = {"avx512f": 512, "avx2": 256, "avx": 256, "sve": 128, "asimd": 128, "sse4_2": 128, "sse2": 128}
"""Bits of a vector register by the instruction set that brings it; of SVE, the least that it may have."""


class GpuCard(BaseModel):
    """What a model of GPU can do at most, by its vendor's own figures.

    Attributes:
        name: that of the file.
        title: for people.
        names: as the driver and torch report it, without the vendor's name.
        capability: compute capability.
        sms: multiprocessors.
        boost_mhz: the highest clock of the multiprocessors.
        memory: bytes.
        memory_kind: such as ``HBM3``.
        bandwidth: bytes a second of the memory.
        l2: bytes of the second-level cache.
        shared_sm: bytes of shared memory of a multiprocessor.
        shared_block: bytes of it that one block may have, on request.
        warps_sm: that a multiprocessor holds.
        blocks_sm: that a multiprocessor holds.
        units: what it has beside its ordinary units.
        peaks: operations a second by type of number, without sparsity, products with sums of full precision.
        sources: what states the figures.
        text: what to mind, for people and models.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: str = Field(min_length=1)
    names: tuple[str, ...] = Field(min_length=1)
    capability: str = Field(pattern=r"^\d+\.\d$")
    sms: PositiveInt
    boost_mhz: PositiveInt | None = None
    memory: PositiveInt
    memory_kind: str
    bandwidth: PositiveFloat
    l2: PositiveInt | None = None
    shared_sm: PositiveInt
    shared_block: PositiveInt
    warps_sm: PositiveInt
    blocks_sm: PositiveInt
    units: tuple[str, ...]
    peaks: Mapping[Number, PositiveFloat]
    sources: tuple[str, ...] = Field(min_length=1)
    text: str = Field(min_length=1)

    def lines(self) -> list[str]:
        """Returns the card in a few lines for a prompt."""
        clock = f" at up to {self.boost_mhz} MHz" if self.boost_mhz else ""
        cache = f", {self.l2 >> 20} MiB of L2" if self.l2 else ""
        peaks = ", ".join(f"{name} {value / 1e12:g}" for name, value in self.peaks.items())
        return [
            f"{self.title}, compute capability {self.capability}: {self.sms} multiprocessors{clock}",
            f"{self.memory / 1e9:g} GB {self.memory_kind}, {self.bandwidth / 1e9:g} GB/s{cache}",
            f"a multiprocessor: {self.shared_sm >> 10} KiB of shared memory ({self.shared_block >> 10} KiB a block), "
            f"{REGISTERS} registers, {self.warps_sm} warps, {self.blocks_sm} blocks",
            f"peak, dense, in 10^12 operations a second: {peaks}",
            f"it has: {'; '.join(self.units)}",
        ]


@dataclass(frozen=True, slots=True)
class CpuCard:
    """What was found of a CPU; nothing of it was measured, so its peaks are unknown.

    Attributes:
        name: its model.
        cores: that a candidate may use.
        caches: bytes of each data cache of one core, by level.
        vector_bits: of a vector register; 0 where the system does not tell.
        vectors: its instruction sets for vectors, as the system names them.
    """

    name: str
    cores: int
    caches: Mapping[str, int]
    vector_bits: int
    vectors: tuple[str, ...]

    def lines(self) -> list[str]:
        """Returns the card in a few lines for a prompt."""
        cores = "one core" if self.cores == 1 else f"{self.cores} cores"
        found = [f"{one_line(self.name)}: {cores} of it"]
        if self.caches:
            found.append(", ".join(f"{name} {size >> 10} KiB" for name, size in sorted(self.caches.items())))
        if self.vector_bits:
            floats = self.vector_bits // 32
            found.append(f"vectors of {self.vector_bits} bits, {floats} float32 each ({' '.join(self.vectors)})")
        return found


def parse_gpu_card(name: str, text: str) -> GpuCard:
    """Reads a card.

    Args:
        name: that of the file, without its suffix.
        text: the file.

    Raises:
        ValueError: the header is missing, is not TOML or does not fit, or the card has another name than its file.
    """
    try:
        header, body = front_matter(text)
        card = GpuCard.model_validate({**header, "text": body})
    except ValidationError as error:
        raise ValueError(f"card {name}: {describe_invalid(error, GpuCard)}") from None
    except ValueError as error:
        raise ValueError(f"card {name}: {error}") from None
    if card.name != name:
        raise ValueError(f"card {name} calls itself {card.name}")
    return card


@cache
def gpu_cards() -> tuple[GpuCard, ...]:
    """Returns all cards, by name.

    Raises:
        ValueError: one of them does not parse.
    """
    return tuple(parse_gpu_card(name, text) for name, text in folder_texts("hardware").items())


def card_named(reported: str) -> GpuCard | None:
    """Returns the card of a GPU by the name that NVML or torch reports; None where there is none.

    Only whole names count: an ``H200 NVL`` has other figures than an ``H200``.
    """
    bare = reported.strip().removeprefix(VENDOR)
    return next((card for card in gpu_cards() if bare in card.names), None)


def cards_of(capability: str) -> tuple[GpuCard, ...]:
    """Returns the cards of a compute capability, ``9.0`` or ``sm_90``; the letter of ``sm_90a`` does not count."""
    if capability.startswith("sm_"):
        digits = capability.removeprefix("sm_").rstrip("af")
        capability = f"{digits[:-1]}.{digits[-1:]}"
    return tuple(card for card in gpu_cards() if card.capability == capability)


def cpu_card(place: Circumstances, cores: int) -> CpuCard:
    """Returns the card of the CPU that candidates run on.

    Args:
        place: what was found of it.
        cores: that a candidate may use.
    """
    bits = max((WIDTHS.get(name, 0) for name in place.vectors), default=0)
    return CpuCard(place.processor, cores, place.caches, bits, place.vectors)
