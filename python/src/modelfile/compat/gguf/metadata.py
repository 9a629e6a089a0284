# SPDX-License-Identifier: MIT
"""Where a model comes from: what its name, its card and its files say."""

from __future__ import annotations

import dataclasses
import json
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._keys import Keys

logger = logging.getLogger(__name__)

# ---- what the words of a name are

_VERSION = re.compile(r"(v|iter)?[0-9]+(\.[0-9]+)*", re.I)
_TYPE = re.compile(r"i?q[0-9](_\w)*|b?fp?(16|32)", re.I)
_COUNT = re.compile(r"(([0-9]+x)?|a)[0-9]+([._][0-9]+)?[kmbt][0-9]?", re.I)
_SIZE_WORD = re.compile(r"small|mini|medium|large|x?xl", re.I)
_FINETUNE = re.compile(r"chat|instruct|vision|lora", re.I)
_ASCII_DIGIT = re.compile("[0-9]")


def _size(word: str, total: int) -> tuple[str, str]:
    """A size as it is written, and what the word is: "1_5b" is 1.5B, "7b1" 7.1B.
    One that is far from the model's is the length of its context."""
    word = word.replace("_", ".")
    if word[-1].isdigit():
        word = f"{word[:-2]}.{word[-1]}{word[-2]}"
    if word[-2].isdigit() and word[-1] in "kmbt":
        word = word[:-1] + word[-1].upper()
    if total and re.fullmatch(r"[0-9.]+[KMBT]", word, re.I):
        scale = 1000 ** (1 + "KMBT".index(word[-1].upper()))
        count, all_of_it = float(word[:-1]) * scale, abs(total)
        if total < 0:  # an adapter, which may lack layers
            wrong = count < all_of_it // 8
        else:
            wrong = abs(count - all_of_it) > 7 * all_of_it // 8
        if wrong:
            return word[:-1] + word[-1].lower(), "finetune"
    return word, "size"


def _kinds(words: list[str], total: int) -> list[tuple[str, str]]:
    """Each word with what it is; "" if nothing shows that."""
    out = []
    for place, word in enumerate(words):
        kind = ""
        if _VERSION.fullmatch(word):
            kind = "version"
        elif _TYPE.fullmatch(word):
            kind = "type"
        elif place and (_COUNT.fullmatch(word) or _SIZE_WORD.fullmatch(word)):
            word, kind = _size(word, total)
        elif place and _FINETUNE.fullmatch(word):
            kind = "type" if total < 0 and word.lower() == "lora" else "finetune"
        out.append((word, kind))
    if any(kind == "size" and _ASCII_DIGIT.search(word) for word, kind in out):
        out = [  # next to a number "small" is not a size
            (word, "" if kind == "size" and not _ASCII_DIGIT.search(word) else kind)
            for word, kind in out
        ]
    return out


def _base_end(kinds: list[tuple[str, str]]) -> int:
    """How many words the base name has: those that are nothing else, and versions
    between them, but not at the end of the name."""
    end = 0
    for word, kind in kinds:
        if kind != "version" and (kind or not word[0].isalpha()):
            break
        end += 1
    if end == len(kinds):
        while end and kinds[end - 1][1] == "version":
            end -= 1
    return end


def _joined(words: Iterator[str]) -> str | None:
    return "-".join(words) or None


# ---- names of Hugging Face

_HOST = "huggingface.co"


def _origin(name: str) -> dict[str, str]:
    """What the name of a base model or a dataset, or its address, says."""
    out: dict[str, str] = {}
    found: str | None = name
    if name.startswith(("http://", "https://", "ssh://")):
        out["repo_url"] = name
        match = re.match(rf"https?://{_HOST}/([^/]+/[^/]+)$", name)
        found = match[1] if match else None
    if found is None:
        return out
    full, organization, _, _, version, _ = Metadata.get_model_id_components(found)
    if full is not None:
        out["name"] = Metadata.id_to_title(full)
    if organization is not None:
        out["organization"] = Metadata.id_to_title(organization)
        out.setdefault("repo_url", f"https://{_HOST}/{found}")
    if version is not None:
        out["version"] = version
    return out


def _origins(
    card: dict[str, Any], names: tuple[str, ...]
) -> list[dict[str, Any]] | None:
    for name in names:
        if name in card:
            value = card[name]
            many = [value] if isinstance(value, str) else value
            return [
                _origin(each) if isinstance(each, str) else each
                for each in (many if isinstance(many, list) else ())
                if isinstance(each, (str, dict))
            ]
    return None


def _listed(card: dict[str, Any], names: tuple[str, ...]) -> list[Any] | None:
    """The lists of all these keys, one after the other."""
    out: list[Any] | None = None
    for name in names:
        value = card.get(name)
        if isinstance(value, (str, list)):
            out = [*(out or []), *([value] if isinstance(value, str) else value)]
    return out


# Fields, and what a model card calls them: the first that has a value counts.
_CARD = {
    "name": ("name", "model_name"),
    "author": ("author", "model_author", "model_creator"),
    "version": ("version", "model_version"),
    "organization": ("organization", "model_organization"),
    "finetune": ("finetune", "model_finetune"),
    "basename": ("basename", "model_basename", "model_type"),
    "description": ("description", "model_description"),
    "size_label": ("size_label", "model_size_label"),
    "license": ("license",),
    "license_name": ("license_name",),
    "license_link": ("license_link",),
    "source_url": ("url", "model_url"),
    "source_doi": ("doi", "model_doi"),
    "source_uuid": ("uuid", "model_uuid"),
    "source_repo_url": ("repo_url", "model_repo_url"),
}
_SAMPLING = (
    *("sequence", "top_k", "top_p", "min_p", "xtc_probability", "xtc_threshold"),
    *("temp", "penalty_last_n", "penalty_repeat", "mirostat", "mirostat_tau"),
    "mirostat_eta",
)
_MEMBERS = (
    *("name", "author", "version", "organization", "description", "url", "doi"),
    *("uuid", "repo_url"),
)
# What generation_config.json calls them where that is another name.
_GENERATION = {"temp": ("temperature",), "penalty_repeat": ("repetition_penalty",)}


def _json(folder: Path | None, name: str) -> dict[str, Any]:
    path = folder / name if folder else None
    if path is None or not path.is_file():
        return {}
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


@dataclass
class Metadata:
    """The keys general.* of a file; None: nothing is known."""

    sampling_sequence: str | None = None
    sampling_top_k: int | None = None
    sampling_top_p: float | None = None
    sampling_min_p: float | None = None
    sampling_xtc_probability: float | None = None
    sampling_xtc_threshold: float | None = None
    sampling_temp: float | None = None
    sampling_penalty_last_n: int | None = None
    sampling_penalty_repeat: float | None = None
    sampling_mirostat: int | None = None
    sampling_mirostat_tau: float | None = None
    sampling_mirostat_eta: float | None = None
    name: str | None = None
    author: str | None = None
    version: str | None = None
    organization: str | None = None
    finetune: str | None = None
    basename: str | None = None
    description: str | None = None
    quantized_by: str | None = None
    size_label: str | None = None
    url: str | None = None
    doi: str | None = None
    uuid: str | None = None
    repo_url: str | None = None
    source_url: str | None = None
    source_doi: str | None = None
    source_uuid: str | None = None
    source_repo_url: str | None = None
    license: str | None = None
    license_name: str | None = None
    license_link: str | None = None
    base_models: list[dict[str, Any]] | None = None
    tags: list[str] | None = None
    languages: list[str] | None = None
    datasets: list[dict[str, Any]] | None = None

    @staticmethod
    def load(
        metadata_override_path: Path | None = None,
        model_path: Path | None = None,
        model_name: str | None = None,
        total_params: int = 0,
    ) -> Metadata:
        """What the files of a folder say, and then what a file of keys does."""
        out = Metadata()
        card = Metadata.load_model_card(model_path)
        generation = Metadata.load_generation_config(model_path)
        for field in _SAMPLING:
            names = (field, *_GENERATION.get(field, ()))
            if field == "temp":
                names = _GENERATION[field]
            for name in names:
                if name in generation:
                    setattr(out, f"sampling_{field}", generation[name])
                    break
        parameters = Metadata.load_hf_parameters(model_path)
        out = Metadata.apply_metadata_heuristic(
            out, card, parameters, model_path, total_params
        )
        override = Metadata.load_metadata_override(metadata_override_path)
        for field in (each.name for each in dataclasses.fields(out)):
            for key in _override_keys(field):
                if key in override:
                    setattr(out, field, override[key])
        if model_name is not None:
            out.name = model_name
        return out

    @staticmethod
    def load_metadata_override(
        metadata_override_path: Path | None = None,
    ) -> dict[str, Any]:
        if metadata_override_path is None:
            return {}
        return _json(Path(metadata_override_path).parent, metadata_override_path.name)

    @staticmethod
    def load_model_card(model_path: Path | None = None) -> dict[str, Any]:
        """The front matter of README.md, which is YAML."""
        path = model_path / "README.md" if model_path else None
        if path is None or not path.is_file():
            return {}
        lines = path.read_text("utf-8").splitlines()
        if not lines or lines[0] != "---":
            return {}
        end = lines.index("---", 1) if "---" in lines[1:] else len(lines)
        text = "\n".join(lines[1:end]).replace("\t", "  ")
        # "no" is Norwegian, and not false.
        text = re.sub("- no$", '- "no"', text, flags=re.M)
        try:
            import yaml  # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            logger.warning(
                "README.md is not read: that needs yaml (pip install pyyaml)"
            )
            return {}
        found = yaml.safe_load(text)
        if isinstance(found, dict):
            return found
        logger.warning("the front matter of %s is not a mapping", path)
        return {}

    @staticmethod
    def load_hf_parameters(model_path: Path | None = None) -> dict[str, Any]:
        return _json(model_path, "config.json")

    @staticmethod
    def load_generation_config(model_path: Path | None = None) -> dict[str, Any]:
        try:
            return _json(model_path, "generation_config.json") or {}
        except ValueError:  # not JSON
            return {}

    @staticmethod
    def id_to_title(string: str) -> str:
        """ "my-model-7b" as "My Model 7b"."""
        return " ".join(
            word.title()
            if word.islower() and not re.match(r"v[0-9]+(\.[0-9]+)*$|[0-9]", word)
            else word
            for word in string.strip().replace("-", " ").split()
        )

    @staticmethod
    def get_model_id_components(
        model_id: str | None = None, total_params: int = 0
    ) -> tuple[str | None, str | None, str | None, str | None, str | None, str | None]:
        """The name itself, organization, base name, fine-tuning, version, size.

        total_params: elements of all tensors, below zero for an adapter."""
        if model_id is None or " " in model_id:
            return (model_id, None, None, None, None, None)
        before, slash, full = model_id.partition("/")
        organization = before if slash and before[:1] != "." else None
        full = full if slash else model_id
        kinds = _kinds([word for word in full.split("-") if word], total_params)
        end = _base_end(kinds)
        base = _joined(word for word, _ in kinds[:end])
        rest = kinds[end:]
        size = _joined(iter(dict.fromkeys(w for w, kind in rest if kind == "size")))
        finetune = _joined(w for w, kind in rest if kind in ("finetune", ""))
        version = _joined(w for w, kind in rest if kind == "version")
        if size is None and finetune is None and version is None:
            base = None  # any word would be one
        return (full, organization, base, finetune, version, size)

    @staticmethod
    def apply_metadata_heuristic(
        metadata: Metadata,
        model_card: dict[str, Any] | None = None,
        hf_params: dict[str, Any] | None = None,
        model_path: Path | None = None,
        total_params: int = 0,
    ) -> Metadata:
        """Fills in what has no value yet: by the card, then by the name in
        config.json, then by the folder's name."""
        if model_card is not None:
            metadata._take_card(model_card)
        name = (hf_params or {}).get("_name_or_path")
        if name is not None and name.count("/") <= 1:
            metadata._take_name(name, total_params)
        if model_path is not None:
            metadata._take_name(model_path.name, total_params)
        return metadata

    def _offer(self, field: str, value: Any) -> None:
        if value is not None and getattr(self, field) is None:
            setattr(self, field, value)

    def _take_card(self, card: dict[str, Any]) -> None:
        for field, names in _CARD.items():
            for name in names:
                self._offer(field, card.get(name))
        models = ("base_model", "base_models", "base_model_sources")
        self._offer("base_models", _origins(card, models))
        sets = ("datasets", "dataset", "dataset_sources")
        self._offer("datasets", _origins(card, sets))
        self._offer("tags", _listed(card, ("tags", "pipeline_tag")))
        self._offer("languages", _listed(card, ("languages", "language")))

    def _take_name(self, name: str, total: int) -> None:
        full, organization, *rest = Metadata.get_model_id_components(name, total)
        if full is not None:
            self._offer("name", Metadata.id_to_title(full))
        if organization is not None:
            self._offer("organization", Metadata.id_to_title(organization))
        fields = ("basename", "finetune", "version", "size_label")
        for field, value in zip(fields, rest):
            self._offer(field, value)

    def set_gguf_meta_model(self, gguf_writer: Any) -> None:
        """Adds all of it to a writer."""
        fields = [each.name for each in dataclasses.fields(self)]
        licenses = [each for each in fields if each.startswith("license")]
        fields = [each for each in fields if each not in licenses]
        at = fields.index("url")
        self._set(gguf_writer, [*fields[:at], *licenses, *fields[at:-4]])
        for what, origins in (
            ("base_model", self.base_models),
            ("dataset", self.datasets),
        ):
            if origins is None:
                continue
            getattr(gguf_writer, f"add_{what}_count")(len(origins))
            for number, origin in enumerate(origins):
                for key in _MEMBERS:
                    if key in origin:
                        getattr(gguf_writer, f"add_{what}_{key}")(number, origin[key])
        self._set(gguf_writer, ["tags", "languages"])

    def _set(self, gguf_writer: Any, fields: list[str]) -> None:
        for field in fields:
            value = getattr(self, field)
            if value is None or not (value or field.startswith("sampling_")):
                continue
            if field == "license" and isinstance(value, list):
                value = ",".join(value)
            getattr(gguf_writer, f"add_{field}")(value)


def _override_keys(field: str) -> tuple[str, ...]:
    """The keys that a file of metadata may have for a field."""
    if field in ("base_models", "datasets"):
        return (f"general.{field}",)
    if field == "license":
        return ()
    key: str = getattr(Keys.General, field.upper())
    return (key,)
