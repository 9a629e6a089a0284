# SPDX-License-Identifier: MIT
"""test_models.py - a step of pytest that fails on a model with errors

    MODELS="a.gguf b.gguf" python3 -m pytest examples/python/test_models.py

Copy it to a project's tests.  Warnings are shown with -rw, and do not fail.
"""

import os
import warnings

import modelfile
import pytest

MODELS = os.environ.get("MODELS", "").split()


@pytest.mark.parametrize("path", MODELS)
def test_model_is_sound(path):
    """Every rule, and every byte; only what llama.cpp refuses is an error."""
    with modelfile.open(path) as m:
        findings = m.validate(data=True, readers="llama.cpp")
    for each in findings:
        if each.severity == "warning":
            warnings.warn(f"{path}: {each}", stacklevel=1)
    errors = [str(each) for each in findings if each.severity == "error"]
    assert not errors


@pytest.mark.parametrize("path", MODELS)
def test_model_fits(path):
    """Into the memory of the machine that it is made for."""
    assert modelfile.plan(path, ctx=4096, fit="8G").fit.fits is not False
