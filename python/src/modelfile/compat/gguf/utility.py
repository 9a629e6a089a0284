# SPDX-License-Identifier: MIT
"""Names of files, and sizes of models for people."""

from __future__ import annotations


def fill_templated_filename(filename: str, output_type: str | None) -> str:
    """A name with {ftype} and the like for the type of its tensors."""
    small = output_type.lower() if output_type else ""
    upper = output_type.upper() if output_type else ""
    return filename.format(
        small,
        outtype=small,
        ftype=small,
        OUTTYPE=upper,
        FTYPE=upper,
    )


def model_weight_count_rounded_notation(
    model_params_count: int, min_digits: int = 2
) -> str:
    """8.0B, 405B, 0.50K: at least so many digits."""
    for power, unit in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (-1, "K")):
        if model_params_count > power:
            break
    scaled = model_params_count / (power if power > 0 else 1e3)
    digits = len(f"{round(scaled)}".lstrip("0"))
    return f"{scaled:.{max(min_digits - digits, 0)}f}{unit}"


def size_label(
    total_params: int, shared_params: int, expert_params: int, expert_count: int
) -> str:
    """8.0B, or 8x7B of a model with experts."""
    if not expert_count:
        return model_weight_count_rounded_notation(abs(total_params), 2)
    one = abs(shared_params) + abs(expert_params)
    return f"{expert_count}x{model_weight_count_rounded_notation(one, 2)}"


def naming_convention(
    model_name: str | None,
    base_name: str | None,
    finetune_string: str | None,
    version_string: str | None,
    size_label: str | None,
    output_type: str | None,
    model_type: str | None = None,
) -> str:
    """The name of a file, without its suffix."""
    first = "ggml-model"
    for name in (base_name, model_name):
        if name is not None:
            first = name.strip().replace(" ", "-").replace("/", "-")
            break
    rest = (size_label, finetune_string, version_string, output_type, model_type)
    parts = [each.strip().replace(" ", "-") for each in rest if each is not None]
    return "-".join([first, *parts])
