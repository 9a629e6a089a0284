# SPDX-License-Identifier: MIT
"""finetune.py - exports trained weights straight to a quantized GGUF file

    python3 examples/python/finetune.py FOLDER OUT.gguf [TYPE]

FOLDER is the model that was trained, as Hugging Face has it.  No f16 file is
written between, and nobody else's converter is needed.
"""

import os
import shutil
import sys
import tempfile

import modelfile


def export(state, base: str, out: str, type: str) -> modelfile.Quantized:
    """state: names and arrays of numpy or torch, as model.state_dict() has them."""
    with tempfile.TemporaryDirectory(dir=os.path.dirname(out) or ".") as folder:
        with modelfile.Writer(f"{folder}/model.safetensors") as w:
            for name, array in state.items():
                w.add(name, array=array)
        for name in os.listdir(base):  # config.json, the tokenizer
            if "safetensors" not in name:
                shutil.copy(os.path.join(base, name), folder)
        return modelfile.quantize(folder, out, type, replace=True, progress=True)


if __name__ == "__main__":
    base, out, *rest = sys.argv[1:]
    with modelfile.open(base) as m:
        state = {name: t.dequantize() for name, t in m.tensors.items()}
    state["model.norm.weight"] *= 1.01  # training
    done = export(state, base, out, *rest or ["Q4_K_M"])
    print(f"{out}: {done.changed} tensors quantized, {done.file_size:,} bytes")
