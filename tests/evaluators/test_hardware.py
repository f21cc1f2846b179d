"""Hardware cards: that they read, that their figures hang together, and how a device finds its own."""

from __future__ import annotations

import re

import pytest
from paths import ROOT

from whet.agents.hardware import card_named, cards_of, cpu_card, gpu_cards, parse_gpu_card
from whet.core.circumstances import Circumstances
from whet.evaluators.circumstances import vectors

FOLDER = ROOT / "whet" / "prompts" / "knowledge" / "hardware"
CARDS = {card.name: card for card in gpu_cards()}
LANES = {"8.0": 64, "8.9": 128, "9.0": 128, "10.0": 128}
"""Float32 units of a multiprocessor (CUDA C++ Programming Guide, arithmetic instructions)."""
PLACE = Circumstances("A `Processor`", {"L1": 32 << 10, "L2": 1 << 20}, "CPython", {}, None, (), ("avx", "avx2", "fma"))


def test_there_is_a_card_for_each_gpu_of_the_manual():
    assert set(CARDS) >= {"a100-40", "a100-80-sxm", "h100-sxm", "h100-pcie", "h200", "b200", "l4", "rtx-4090"}


@pytest.mark.parametrize(
    ("reported", "name"),
    [
        ("NVIDIA H200", "h200"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm"),
        ("NVIDIA H100 PCIe", "h100-pcie"),
        ("NVIDIA A100-SXM4-40GB", "a100-40"),
        ("NVIDIA A100 80GB PCIe", "a100-80-pcie"),
        ("NVIDIA B200", "b200"),
        ("NVIDIA L4", "l4"),
        ("NVIDIA GeForce RTX 4090", "rtx-4090"),
        ("NVIDIA L40S", None),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", None),
        ("NVIDIA H200 NVL", None),
        ("", None),
    ],
)
def test_a_gpu_is_found_by_the_name_that_its_driver_reports(reported, name):
    found = card_named(reported)
    assert (found.name if found else None) == name


def test_cards_are_found_by_their_capability():
    hopper = {"h100-sxm", "h100-pcie", "h200"}
    for asked in ("9.0", "sm_90", "sm_90a"):
        assert {card.name for card in cards_of(asked)} == hopper
    assert {card.name for card in cards_of("sm_100")} == {"b200"}
    assert cards_of("sm_70") == ()


def test_no_two_cards_answer_to_one_name():
    names = [name for card in gpu_cards() for name in card.names]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", CARDS)
def test_the_figures_of_a_card_hang_together(name):
    card = CARDS[name]
    if card.boost_mhz:
        by_clock = card.sms * LANES[card.capability] * 2 * card.boost_mhz * 1e6
        assert card.peaks["fp32"] == pytest.approx(by_clock, rel=0.03)
    assert card.peaks["fp16"] == card.peaks["bf16"]
    assert card.peaks["fp16"] == pytest.approx(2 * card.peaks["tf32"], rel=0.05)
    assert card.shared_block + 1024 == card.shared_sm
    assert all(len(line) < 300 for line in card.lines())
    assert all("NVIDIA" in source for source in card.sources)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("+++\n", "", "no header"),
        ("sms = 132", "sms = -1", "sms: "),
        ("sms = 132", "smms = 1\nsms = 132", "unknown key 'smms'; did you mean 'sms'?"),
        ("fp32 = ", "fp31 = ", "peaks"),
        ('name = "h200"', 'name = "h300"', "calls itself h300"),
        ("sms = 132", "sms = ", "not valid TOML"),
    ],
)
def test_a_bad_card_is_named_with_its_fault(old, new, complaint):
    text = (FOLDER / "h200.md").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=f"^card h200.*{re.escape(complaint)}"):
        parse_gpu_card("h200", text.replace(old, new, 1))


def test_the_cpu_has_a_card_of_what_was_found():
    lines = cpu_card(PLACE, 1).lines()
    assert lines == ["A 'Processor': one core of it", "L1 32 KiB, L2 1024 KiB",
                     "vectors of 256 bits, 8 float32 each (avx avx2 fma)"]  # fmt: skip


def test_nothing_is_said_of_a_cpu_that_tells_nothing():
    bare = Circumstances("", {}, "CPython", {}, None, ())
    assert cpu_card(bare, 4).lines() == [": 4 cores of it"]
    assert cpu_card(bare, 4).vector_bits == 0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "processor\t: 0\nflags\t\t: fpu avx512f avx2 sse4_2 avx\n\nflags\t: fma\n",
            ("sse4_2", "avx", "avx2", "avx512f"),
        ),
        ("processor : 0\nFeatures : fp asimd sve\n", ("asimd", "sve")),
        ("model name : x\n", ()),
    ],
)
def test_vector_instructions_are_read_from_the_system(text, found, tmp_path):
    file = tmp_path / "cpuinfo"
    file.write_text(text)
    assert vectors(file) == found
    assert vectors(tmp_path / "none") == ()
