"""Encoders of the user's own: what fails in one, or is wrong with what it returns, is told in one line."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn

from nodewise.core.errors import InputError, seen
from nodewise.core.registry import is_own, name_in_files, told_as_own, unusable

Given = dict[str, Any]

# Of each method that returns vectors, their shape but for the last size, from its arguments.
_VECTORS: dict[str, Callable[[Given], tuple[int, ...]]] = {
    "views": lambda given: tuple(given["starts"].shape),
    "subgraphs": lambda given: tuple(given["views"].nodes.shape[:-1]),
    "graph": lambda given: (given["self"].num_runs, given["features"].shape[0]),
    "finish": lambda given: tuple(given["rows"].shape[:-1]),
}
_OTHERS = ("start", "weights_of", "passes", "face_passes")


def guard(own: type[nn.Module], base: type[nn.Module]) -> None:
    """Let the methods that a class of the user's own defines say in one line what is wrong with it."""
    for name in (*_VECTORS, *_OTHERS) if is_own(own) else ():
        if name in vars(own):
            setattr(own, name, _guarded(own, name, base))


def _guarded(own: type[nn.Module], name: str, base: type[nn.Module]) -> Callable[..., Any]:
    method, parameters = vars(own)[name], signature(getattr(base, name))

    @wraps(method)
    def called(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        with told_as_own("encoder", own):
            found = method(self, *args, **kwargs)
        if wrong := _fault(self, name, found, lambda: parameters.bind(self, *args, **kwargs).arguments):
            raise InputError(f"encoder {name_in_files(own)}: {name} returned {wrong}", code="own-code-failed")
        return found

    return called


def _fault(encoder: nn.Module, name: str, found: Any, given: Callable[[], Given]) -> str:
    """Say what is wrong with the answer of a method; empty if nothing is."""
    if name == "weights_of":
        if not (isinstance(found, list | tuple) and all(isinstance(weight, Tensor) for weight in found)):
            return f"{seen(found)}; return a list of tensors"
        return next((f"{told}; return plain ones" for weight in found if (told := unusable(weight))), "")
    if name not in _VECTORS:
        return ""
    expected = _VECTORS[name](given())
    shape = f"({', '.join(map(str, expected))}, d)"
    if not isinstance(found, Tensor):
        return f"{seen(found)}; return a tensor {shape}"
    if told := unusable(found):
        return f"{told}; return a plain one, {shape}"
    sizes = tuple(found.shape)
    if sizes[:-1] != expected or sizes[-1] == 0:
        return f"a tensor of the shape {sizes}; return {shape}"
    if not found.is_floating_point():
        return f"a tensor of {str(found.dtype).removeprefix('torch.')}; return floating-point numbers"
    learning = torch.is_grad_enabled() and any(weight.requires_grad for weight in encoder.parameters())
    if learning and name in ("views", "subgraphs") and not found.requires_grad:
        return "vectors without a gradient, from which nothing is learned; leave out detach and no_grad there"
    if found.is_cuda and torch.cuda.is_current_stream_capturing():  # a step that is recorded has no values to look at
        return ""
    # Where the weights are not finite either it is the training that went astray, which has remedies of its own.
    if not found.isfinite().all() and all(weight.isfinite().all() for weight in encoder.parameters()):
        return "vectors that are not all finite; look for a division by zero, or a logarithm or root below it"
    return ""
