#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# hub_client.py - what huggingface_hub makes of the stand-in for the Hub
#
#     hub_client.py snapshot REPOSITORY   prints the folder that it downloads
#     hub_client.py list REPOSITORY       PATH SIZE SHA-256, a line for each file
#     hub_client.py tensors REPOSITORY    SHARD NAME DTYPE SHAPE BYTES of each tensor
#     hub_client.py refuses REPOSITORY[@REVISION] ERROR   fails unless it is that
#     hub_client.py ours                  the lines of tensors, from our JSON
import hashlib
import json
import sys


def snapshot(repository):
    import huggingface_hub

    print(huggingface_hub.snapshot_download(repository))


def files(repository):
    import huggingface_hub

    rows = []
    for row in huggingface_hub.HfApi().list_repo_tree(repository, recursive=True):
        if not hasattr(row, "size"):
            continue
        path = huggingface_hub.hf_hub_download(repository, row.path)
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        assert row.lfs is None or row.lfs.sha256 == digest
        rows.append((row.path, str(row.size), digest))
    for row in sorted(rows, key=lambda row: row[0].encode()):
        print(*row)


def show(rows):
    for row in sorted(rows):
        print(*row)


def tensors(repository):
    import huggingface_hub

    found = huggingface_hub.HfApi().get_safetensors_metadata(repository)
    show(
        (
            shard,
            name,
            tensor.dtype.lower(),
            list(tensor.shape),
            tensor.data_offsets[1] - tensor.data_offsets[0],
        )
        for shard, file in enumerate(sorted(found.files_metadata))
        for name, tensor in found.files_metadata[file].tensors.items()
    )


def ours():
    document = json.load(sys.stdin)
    show(
        (row["shard"], row["name"], row["type"], row["shape"], row["bytes"])
        for row in document["files"][0]["tensors"]
    )


def refuses(repository, error):
    import huggingface_hub

    repository, _, revision = repository.partition("@")
    try:
        huggingface_hub.HfApi().list_repo_files(repository, revision=revision or None)
    except Exception as found:
        names = [kind.__name__ for kind in type(found).__mro__]
        assert error in names, names
        return
    raise AssertionError("it is not refused")


{"snapshot": snapshot, "list": files, "tensors": tensors, "refuses": refuses, "ours": ours}[
    sys.argv[1]
](*sys.argv[2:])
