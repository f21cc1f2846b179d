"""The few headers of torch that a C++ answer needs, with what binds its functions to Python, compiled ahead.

The names of torch's large headers lead to a small one. Flags that are met a second time get it precompiled: that takes
longer than an answer, and makes each later one three times as fast.
"""

from __future__ import annotations

import hashlib
import shlex
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from whet.core.task import MIB
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Sandbox
from whet.sandbox.toolchains.steps import LIMITS, run_steps

SLIM, PRECOMPILED = "slim.h", "slim.h.gch"
ROOM = 1024 * MIB
"""Of a precompiled header, which holds all that the compiler knows by then."""
LARGE = ("torch/extension.h", "torch/torch.h", "torch/types.h", "torch/all.h", "ATen/ATen.h")
"""Headers that bring everything; their names lead to the small one."""
OPERATORS = (
    "arange", "empty", "empty_like", "empty_strided", "from_blob", "full", "full_like", "ones", "ones_like",
    "scalar_tensor", "zeros", "zeros_like",
)  # fmt: skip
HEADER = "\n".join(
    [
        "#include <Python.h>",
        "#include <ATen/core/Tensor.h>",
        "#include <ATen/Parallel.h>",
        *(f"#include <ATen/ops/{name}.h>" for name in OPERATORS),
        *(f"#include <{name}>" for name in ("algorithm", "array", "cmath", "cstdint", "cstring", "limits", "numeric")),
        *(f"#include <{name}>" for name in ("optional", "string", "tuple", "vector", "omp.h")),
        "namespace torch { using namespace at; using c10::optional; using c10::nullopt; }",
    ]
)
BINDING = """
// Of libtorch_python, whose own header brings pybind11 and takes longer to compile than all the rest.
extern PyObject *THPVariableClass;
PyObject *THPVariable_Wrap(const at::TensorBase &);
namespace whet {
template <class T> struct Unknown : std::false_type {};
template <class T> struct Convert {
  static_assert(Unknown<T>::value, "whet: a type that is not bound");
};
template <> struct Convert<at::Tensor> {
  static at::Tensor from(PyObject *o) {
    PyObject *held = PyObject_IsInstance(o, THPVariableClass) == 1 ? PyObject_GetAttrString(o, "_cdata") : nullptr;
    void *const impl = held ? PyLong_AsVoidPtr(held) : nullptr;
    Py_XDECREF(held);
    if (impl == nullptr) { PyErr_Clear(); throw std::invalid_argument("expected a tensor"); }
    return at::Tensor(c10::intrusive_ptr<at::TensorImpl>::reclaim_copy(static_cast<at::TensorImpl *>(impl)));
  }
  static PyObject *to(const at::Tensor &t) { return THPVariable_Wrap(t); }
};
template <class T> requires std::is_integral_v<T> struct Convert<T> {
  static T from(PyObject *o) {
    const long long value = PyLong_AsLongLong(o);
    if (value == -1 && PyErr_Occurred()) { PyErr_Clear(); throw std::invalid_argument("expected an integer"); }
    return static_cast<T>(value);
  }
  static PyObject *to(T v) { return PyLong_FromLongLong(static_cast<long long>(v)); }
};
template <> struct Convert<bool> {
  static bool from(PyObject *o) { return PyObject_IsTrue(o) == 1; }
  static PyObject *to(bool v) { return PyBool_FromLong(v); }
};
template <class T> requires std::is_floating_point_v<T> struct Convert<T> {
  static T from(PyObject *o) {
    const double value = PyFloat_AsDouble(o);
    if (value == -1.0 && PyErr_Occurred()) { PyErr_Clear(); throw std::invalid_argument("expected a number"); }
    return static_cast<T>(value);
  }
  static PyObject *to(T v) { return PyFloat_FromDouble(static_cast<double>(v)); }
};
template <class T> struct Convert<std::optional<T>> {
  static std::optional<T> from(PyObject *o) {
    if (o == Py_None) return std::nullopt;
    return Convert<T>::from(o);
  }
};
template <class T> struct Convert<std::vector<T>> {
  static std::vector<T> from(PyObject *o) {
    std::vector<T> made;
    const Py_ssize_t n = PySequence_Size(o);
    if (n < 0) { PyErr_Clear(); throw std::invalid_argument("expected a sequence"); }
    for (Py_ssize_t i = 0; i < n; i++) {
      PyObject *one = PySequence_GetItem(o, i);
      made.push_back(Convert<T>::from(one));
      Py_DECREF(one);
    }
    return made;
  }
  static PyObject *to(const std::vector<T> &v) {
    PyObject *list = PyList_New(static_cast<Py_ssize_t>(v.size()));
    for (size_t i = 0; i < v.size(); i++) PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), Convert<T>::to(v[i]));
    return list;
  }
};
template <class... T> struct Convert<std::tuple<T...>> {
  static PyObject *to(const std::tuple<T...> &v) {
    PyObject *made = PyTuple_New(sizeof...(T));
    [&]<size_t... I>(std::index_sequence<I...>) {
      (PyTuple_SET_ITEM(made, I, Convert<T>::to(std::get<I>(v))), ...);
    }(std::index_sequence_for<T...>{});
    return made;
  }
};
template <class R, class... A, size_t... I>
PyObject *apply(R (*f)(A...), PyObject *const *args, std::index_sequence<I...>) {
  if constexpr (std::is_void_v<R>) {
    f(Convert<std::decay_t<A>>::from(args[I])...);
    Py_RETURN_NONE;
  } else {
    return Convert<std::decay_t<R>>::to(f(Convert<std::decay_t<A>>::from(args[I])...));
  }
}
template <class R, class... A>
PyObject *invoke(R (*f)(A...), PyObject *const *args, Py_ssize_t n) {
  try {
    if (n != static_cast<Py_ssize_t>(sizeof...(A))) throw std::invalid_argument("another number of arguments");
    return apply(f, args, std::index_sequence_for<A...>{});
  } catch (const std::invalid_argument &error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}
template <auto F> PyObject *bound(PyObject *, PyObject *const *args, Py_ssize_t n) { return invoke(F, args, n); }
}  // namespace whet
"""

SMALL = {
    SLIM: f"#ifndef WHET_SLIM\n#define WHET_SLIM\n{HEADER}{BINDING}#endif\n".encode(),
    **{f"shadow/{name}": f'#include "../../{SLIM}"\n'.encode() for name in LARGE},
}
"""The small header, and the folder of names that lead to it: path -> content."""

_STAGING = threading.Lock()


def staged_headers(sandbox: Sandbox, interpreter: Interpreter, words: Sequence[str]) -> Path:
    """Returns a folder with the small header, and with the folder ``shadow`` of names that lead to it.

    Args:
        sandbox: keeps it for as long as it lives.
        interpreter: runs our program inside.
        words: the compiler and its flags, which make the header another one.
    """
    line = shlex.join(words).encode()
    name = f"torch-{hashlib.sha256(line).hexdigest()[:32]}"
    with _STAGING:
        folder = sandbox.stage(name, {"line": line})
        if not (folder / SLIM).exists():
            return sandbox.stage(name, SMALL)
        if not (folder / PRECOMPILED).exists():
            # Nothing of an answer but its flags is in the folder: whoever gives the same ones would make the same.
            sandbox.stage(name, {PRECOMPILED: _precompiled(sandbox, interpreter, folder, words)})
        return folder


def _precompiled(sandbox: Sandbox, interpreter: Interpreter, folder: Path, words: Sequence[str]) -> bytes:
    """Returns the header as the compiler stores it; nothing where it does not, which it then takes for none."""
    made = f"/work/{PRECOMPILED}"
    step = f'{shlex.join(words)} -x c++-header "$TREE/{SLIM}" -o {made}'
    done = run_steps(sandbox, interpreter, [step], folder, [made], limits=replace(LIMITS, output=ROOM), work=ROOM)
    return done.files.get(made, b"")
