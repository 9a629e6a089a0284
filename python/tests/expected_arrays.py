# SPDX-License-Identifier: MIT
"""The same as expected_types.py, where numpy is installed."""

from __future__ import annotations

from typing import Any

import modelfile
import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

t = modelfile.open("model.gguf").tensors["x"]
assert_type(t.numpy(), npt.NDArray[Any])
assert_type(t.numpy(copy=False), npt.NDArray[Any])
assert_type(t.dtype, np.dtype[Any])
assert_type(t.dequantize(), npt.NDArray[np.float32])
assert_type(t.dequantize(np.float64), npt.NDArray[np.float64])
assert_type(t.dequantize("int64"), npt.NDArray[Any])
assert_type(t.rows(0, 2), npt.NDArray[np.float32])
assert_type(t.rows(0, 2, np.float16), npt.NDArray[np.float16])
assert_type(np.asarray(t), npt.NDArray[Any])
t.read_into(np.empty(10, np.uint8))

blocks = modelfile.quantize_array(t.dequantize(), "q8_0", weights=[1.0, 2.0])
assert_type(blocks, npt.NDArray[np.uint8])
assert_type(modelfile.dequantize_array(blocks, "q8_0"), npt.NDArray[np.float32])
assert_type(modelfile.dequantize_array(b"", "q8_0", (0, 32)), npt.NDArray[np.float32])
with modelfile.Writer("x.gguf") as w:
    w.add("x", array=blocks)
    w.write("x", blocks)

# ---- mistakes

whole = np.zeros(32, np.int8)
modelfile.quantize_array(whole, "q8_0")  # type: ignore[arg-type]
modelfile.quantize_array([1.0], "q8_0")  # type: ignore[arg-type]
t.dequantize(first=3)  # type: ignore[call-overload]
