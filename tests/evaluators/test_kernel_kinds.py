"""Whose kernels the time goes to: told by their names, and put into labels."""

from __future__ import annotations

from typing import Any

import pytest
from scripted_device import CUDA, measured

from whet.agents.answers import LABELS
from whet.core.label import Label
from whet.core.verdict import Rung, RungStatus, Verdict
from whet.evaluators.kernels.kernel_kinds import Owner, bare, own_kernels, owner, shares
from whet.evaluators.labels.base import Derived
from whet.evaluators.labels.registry import settled

TRITON = """\
import triton
import triton.language as tl
from triton import jit


@triton.autotune(configs=[], key=[])
@triton.jit
def soft_rows(x, n: tl.constexpr):
    pass


@jit
def plain(x):
    pass


@triton.jit(noinline=True)
def helper(x):
    pass


def launch(x):
    pass
"""


def test_an_answer_s_own_kernels_are_found_in_its_text() -> None:
    assert own_kernels(CUDA) == {"scaled_gemm", "relu4", "ampere_sgemm_128x64_nn"}
    assert own_kernels(TRITON) == {"soft_rows", "plain", "helper"}
    assert own_kernels('extern "C" __global__ void k(float *x) {}') == {"k"}
    assert own_kernels("import torch\n") == frozenset()


OWN = frozenset({"scaled_gemm", "relu4", "ampere_sgemm_128x64_nn", "soft_rows"})
NAMES = {
    "void scaled_gemm<float>(float const*, float*)": Owner.OWN,
    "relu4(float4*)": Owner.OWN,
    "void (anonymous namespace)::relu4(HIP_vector_type<float, 4>*)": Owner.OWN,
    "soft_rows": Owner.OWN,
    "ampere_sgemm_128x64_nn": Owner.LIBRARY,
    "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize64x64x32_warpgroupsize1x1x1_execute_segment_k_off": Owner.LIBRARY,
    "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4>(...)": Owner.LIBRARY,
    "void at::native::vectorized_elementwise_kernel<4, at::native::relu4<float> >(int)": Owner.LIBRARY,
    "void cublasLt::splitKreduce_kernel<32, 16, int, float>(...)": Owner.LIBRARY,
    "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float>(...)": Owner.LIBRARY,
    "void gemv2T_kernel_val<int, int, float>(...)": Owner.LIBRARY,
    "implicit_convolve_sgemm": Owner.LIBRARY,
    "triton_poi_fused_add_relu_0": Owner.COMPILER,
    "triton_per_fused__softmax_1": Owner.COMPILER,
    "Memcpy DtoD (Device -> Device)": Owner.COPY,
    "Memset (Device)": Owner.COPY,
    "somebodys_kernel(int)": Owner.OTHER,
    "": Owner.OTHER,
}


@pytest.mark.parametrize("name", NAMES)
def test_kernels_are_told_apart_by_their_names(name: str) -> None:
    assert owner(name, OWN) is NAMES[name]


def test_a_kernel_s_bare_name_has_nothing_around_it() -> None:
    assert bare("void ns::inner::name<float, 4>(int, float const*)") == "name"
    assert bare("name") == "name"
    assert bare("  ") == ""


def kernels(own: int, library: int, other: int = 0) -> dict[str, Any] | None:
    rows = [("relu4(float4*)", own, 1), ("ampere_sgemm_128x64_nn", library, 1), ("somebodys(int)", other, 1)]
    found = shares(rows, CUDA)
    return None if found is None else dict(found)


def test_shares_are_of_all_that_the_device_did() -> None:
    found = kernels(250, 500, 250)
    assert found is not None
    assert found["shares"] == {"own": 0.25, "library": 0.5, "compiler": 0.0, "copies": 0.0, "other": 0.25}
    assert found["defines"] == ["ampere_sgemm_128x64_nn", "relu4", "scaled_gemm"]
    assert found["kernels"][1] == {"name": "ampere_sgemm_128x64_nn", "owner": "library", "share": 0.5, "launches": 1}
    assert shares([], CUDA) is None


def confirmed(found: dict[str, Any] | None) -> Verdict:
    """A winner that was measured against two baselines, the second of them after its kernels were looked at."""
    first = {} if found is None else {"gpu": {"kernels": found}}
    evidence = {"measurements": [{"raw": first}, {"raw": {}}]}
    return Verdict("x", (Rung("confirm", RungStatus.PASSED, evidence=evidence),), measured())


STATIC = (
    Derived(Label.CUSTOM_KERNEL, "load_inline compiled apart", frozenset({3})),
    Derived(Label.LIBRARY_CALL, "torch.mm called anew", frozenset({9})),
    Derived(Label.LOWER_PRECISION, "computes in float16"),
)


def labelled(found: dict[str, Any] | None, static: tuple[Derived, ...] = STATIC) -> dict[Label, float | None]:
    return {one.label: one.share for one in settled(static, confirmed(found))}


def test_a_kernel_that_does_the_work_is_a_custom_kernel_with_its_share() -> None:
    assert labelled(kernels(900, 100)) == {
        Label.CUSTOM_KERNEL: 0.9,
        Label.LIBRARY_CALL: None,
        Label.LOWER_PRECISION: None,
    }


def test_a_kernel_beside_a_library_that_does_the_work_is_a_decoy() -> None:
    assert labelled(kernels(20, 980)) == {
        Label.DECOY_KERNEL: 0.02,
        Label.LIBRARY_CALL: 0.98,
        Label.LOWER_PRECISION: None,
    }


def test_kernels_of_unknown_origin_are_given_the_benefit_of_the_doubt() -> None:
    assert Label.DECOY_KERNEL not in labelled(kernels(20, 480, 500))


def test_an_answer_of_library_calls_alone_is_labelled_so() -> None:
    found = shares([("ampere_sgemm_128x64_nn", 5, 1)], "import torch\n")
    assert found is not None
    assert labelled(dict(found), ()) == {Label.LIBRARY_CALL: 1.0}


def test_no_author_is_asked_for_a_decoy() -> None:
    assert Label.DECOY_KERNEL not in LABELS
    assert Label.CUSTOM_KERNEL in LABELS


def test_without_a_profile_labels_stay_as_the_text_shows_them() -> None:
    assert settled(STATIC, confirmed(None)) == STATIC
