import numpy as np
import pytest
from target import spectra


def signal(*values):
    return np.array([[(complex(value).real, complex(value).imag) for value in values]], dtype=np.float16)


def test_a_constant_has_no_frequency_and_a_tone_has_one():
    out, strongest = spectra(signal(3, 3, 3, 3))
    assert out[0].tolist() == [[3, 0], [0, 0], [0, 0], [0, 0]]
    assert strongest.tolist() == [9]
    out, _ = spectra(signal(1, 1j, -1, -1j))
    assert out[0] == pytest.approx(np.array([[0, 0], [1, 0], [0, 0], [0, 0]]), abs=1e-3)


def test_lengths_with_odd_parts():
    out, _ = spectra(signal(6, 0, 0, 0, 0, 0))
    assert out[0, :, 0] == pytest.approx(np.ones(6), abs=1e-3)
    out, _ = spectra(signal(0, 3, 0))
    assert out[0] == pytest.approx(np.array([[1, 0], [-0.5, -0.866], [-0.5, 0.866]]), abs=1e-3)


def test_no_samples():
    out, strongest = spectra(np.zeros((2, 0, 2), dtype=np.float16))
    assert (out.shape, out.dtype, strongest.tolist()) == ((2, 0, 2), np.float32, [0, 0])
