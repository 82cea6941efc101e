"""Fresh memory holds a pattern that says so.

``torch.empty`` returns whatever was there. Here it returns a pattern: for floats a quiet NaN whose payload no
arithmetic produces, for integers a number near the maximum (as an index it is out of range anywhere). So a result that
is still the pattern, bit for bit, was never written; a NaN that was computed has another payload and is not called
poison. The price: once poison has gone through arithmetic or a change of precision it is an ordinary NaN. That is why
operators flag what they read (see operators_api) instead of waiting for it to come out.

One-byte types have no room for a pattern that is not also a plausible value: they are filled, but not detected.
"""

from __future__ import annotations

from typing import Any

import torch

_BY_SIZE = {
    2: (torch.int16, 0x7FDB),  # float16 and bfloat16: exponent all ones, quiet bit, payload
    4: (torch.int32, 0x7FDEAD5B),
    8: (torch.int64, 0x7FFDEAD0BACC0FFE),
}
_ONE_BYTE = 0x7F


def _element_width(dtype: Any) -> int:
    size = int(dtype.itemsize)
    return size // 2 if dtype.is_complex else size


def fill(fresh: Any) -> None:
    """Fill the whole storage of a tensor that was allocated just now, gaps of its strides included."""
    kind, pattern = _BY_SIZE.get(_element_width(fresh.dtype), (torch.uint8, _ONE_BYTE))
    if fresh.dtype == torch.bool:
        kind, pattern = torch.uint8, 1  # any other byte would not be a bool
    torch.empty(0, dtype=kind).set_(fresh.untyped_storage()).fill_(pattern)


def where(tensor: Any) -> Any:
    """Which elements were never written, as a bool tensor of the same shape."""
    known = _BY_SIZE.get(_element_width(tensor.dtype))
    if known is None or tensor.numel() == 0:
        return torch.zeros(tensor.shape, dtype=torch.bool)
    kind, pattern = known
    plain = torch.view_as_real(tensor) if tensor.dtype.is_complex else tensor
    hit = plain.detach().clone(memory_format=torch.contiguous_format).view(kind) == pattern
    return hit.any(dim=-1) if tensor.dtype.is_complex else hit


def any_in(tensor: Any) -> bool:
    return bool(where(tensor).any())
