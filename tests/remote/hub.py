#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# hub.py - a stand-in for the Hub, for tests
#
#     hub.py FOLDER LOG
#
# FOLDER/OWNER/NAME/REVISION has the files of a revision, with "%2F" for "/".
# Prints two ports on 127.0.0.1: of the Hub, and of what it redirects to for the
# files that Git LFS would keep.  Each request is a line of LOG: hub or data,
# method, path, range, and the token that came with it.
#
# Owners say who may read: gated, private.  Repositories of the owner "hostile"
# have lists of files that are wrong, each in the way of its name.
import hashlib
import json
import os
import re
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

folder, log = sys.argv[1:3]
lock = threading.Lock()
TOKEN = "hf_good"
STRANGER = "hf_stranger"  # is known, and may read nothing that is not public
PAGE = 3
LARGE = (".safetensors", ".gguf", ".bin")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def digest(data):
    return hashlib.sha256(data).hexdigest()


def git_name(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


class Commit:
    """A revision of a repository, or None if there is no such thing."""

    def __init__(self, repository, place):
        self.repository = repository
        self.files = {}
        for top, _, names in os.walk(place):
            for name in names:
                path = os.path.join(top, name)
                self.files[os.path.relpath(path, place)] = path
        text = repository + os.path.basename(place) + "".join(sorted(self.files))
        self.name = hashlib.sha1(text.encode()).hexdigest()


def commits(repository):
    place = os.path.join(folder, repository)
    if ".." in repository or not os.path.isdir(place):
        return None
    return {n: Commit(repository, os.path.join(place, n)) for n in os.listdir(place)}


def find(repository, revision):
    known = commits(repository) or {}
    for name, commit in known.items():
        if revision in (urllib.parse.unquote(name), commit.name):
            return commit
    return None


def entry(path, data):
    row = {"type": "file", "oid": git_name(data), "size": len(data), "path": path}
    if path.endswith(LARGE):
        row["lfs"] = {"oid": digest(data), "size": len(data), "pointerSize": 134}
    return row


def rows_of(commit):
    rows, folders = [], set()
    for path in sorted(commit.files):
        above = os.path.dirname(path)
        if above and above not in folders:
            folders.add(above)
            rows.append({"type": "directory", "oid": "0" * 40, "size": 0, "path": above})
        rows.append(entry(path, read(commit.files[path])))
    return rows


def hostile(kind, rows):
    """What a list has instead: rows, or bytes."""
    first = next(row for row in rows if "lfs" in row)
    others = [row for row in rows if row is not first]
    names = {
        "dots": "../../etc/passwd",
        "dots-inside": "a/../../b.gguf",
        "absolute": "/etc/passwd",
        "nul": "a\0b.gguf",
        "control": "a\x1b[31mb.gguf",
        "line": "a\nb.gguf",
        "empty-part": "a//b.gguf",
        "no-name": "",
        "long": "a" * 2000,
        "long-path": "a/" * 400 + "b.gguf",
    }
    changes = {
        "path-number": {"path": 7},
        "size-text": {"size": "7"},
        "size-negative": {"size": -7},
        "size-fraction": {"size": 7.5},
        "size-huge": {"size": 1 << 64},
        "size-true": {"size": True},
        "type-number": {"type": 1},
        "lfs-text": {"lfs": "x"},
        "digest-short": {"lfs": {"oid": "abc", "size": first["size"]}},
        "digest-upper": {"lfs": {"oid": "A" * 64, "size": first["size"]}},
        "sizes": {"lfs": {"oid": "a" * 64, "size": first["size"] + 1}},
        "wrong-size": {"size": first["size"] + 1},
        "wrong-digest": {"lfs": {"oid": "a" * 64, "size": first["size"]}},
    }
    if kind in names:
        return [first, dict(first, path=names[kind])]
    if kind == "wrong-size":
        changes[kind]["lfs"] = dict(first["lfs"], size=first["size"] + 1)
    if kind in changes:
        return others + [dict(first, **changes[kind])]
    if kind == "twice":
        return rows + [first]
    if kind == "twice-inside":
        return json.dumps([first]).replace('"path"', '"path": "a", "path"').encode()
    if kind == "million":
        one = json.dumps(dict(first, path="x")).encode()
        return b"[" + b",".join([one] * 1000000) + b"]"
    if kind == "short-million":
        one = b'{"type":"file","size":1,"path":"%d"}'
        return b"[" + b",".join(one % i for i in range(1000000)) + b"]"
    if kind == "deep":
        return b"[" * 100000
    if kind == "deep-whole":
        return b"[" * 1000 + b"]" * 1000
    if kind == "huge":
        return b'["' + b"x" * 100000000 + b'"]'
    whole = {
        "object": b'{"error": "no"}',
        "numbers": b"[1, 2, 3]",
        "texts": b'["a", "b"]',
        "scalar": b"17",
        "nothing": b"",
        "garbage": b"<html>not JSON</html>",
        "cut": json.dumps(rows).encode()[:-5],
        "more": json.dumps(rows).encode() + b"[]",
        "not-utf8": b'[{"type":"file","size":1,"path":"\xff\xfe"}]',
        "empty": b"[]",
    }
    return whole[kind] if kind in whole else rows


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self, which):
        token = self.headers.get("authorization", "-").replace("Bearer ", "")
        line = f"{which} {self.command} {self.path} {self.headers.get('range', '-')} {token}"
        with lock, open(log, "a", encoding="utf-8") as out:
            out.write(line + "\n")

    def answer(self, status, body=b"", **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in fields:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def answer_json(self, value, **fields):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.answer(200, body, Content_Type="application/json", **fields)

    def answer_data(self, data, **fields):
        """The bytes, or the range of them that is asked for."""
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("range", ""))
        if not match:
            self.answer(200, data, **fields)
            return
        first = int(match[1])
        last = min(int(match[2] or len(data)), len(data) - 1)
        if first >= len(data):
            self.answer(416, b"", Content_Range=f"bytes */{len(data)}")
            return
        fields["Content_Range"] = f"bytes {first}-{last}/{len(data)}"
        self.answer(206, data[first : last + 1], **fields)

    def refuse(self, status, code, text):
        fields = {"X_Error_Message": text}
        if code:
            fields["X_Error_Code"] = code
        self.answer(status, json.dumps({"error": text}).encode(), **fields)

    def may_read(self, repository):
        """False after a refusal, as the Hub words it."""
        token = self.headers.get("authorization", "").replace("Bearer ", "")
        owner = repository.split("/")[0]
        if token and token not in (TOKEN, STRANGER):
            self.refuse(401, "", "Invalid credentials in Authorization header")
        elif owner == "gated" and not token:
            self.refuse(401, "GatedRepo", "Access to model is restricted.")
        elif owner == "gated" and token != TOKEN:
            self.refuse(403, "GatedRepo", "Your request is awaiting a review.")
        elif owner == "readless" and token:
            self.refuse(403, "", "The token has no permission.")
        elif commits(repository) and (owner != "private" or token == TOKEN):
            return True
        elif token:
            self.refuse(404, "RepoNotFound", "Repository not found")
        else:
            self.refuse(401, "RepoNotFound", "Repository not found")
        return False

    def do_HEAD(self):
        self.do_GET()


class Data(Handler):
    """Another server, which has large files by their digests."""

    def do_GET(self):
        self.note("data")
        data = blobs.get(self.path.split("?")[0].strip("/"))
        if data is None:
            self.answer(403, b"expired")
        else:
            self.answer_data(data, ETag='"data"')


blobs = {}


class Hub(Handler):
    def do_GET(self):
        self.note("hub")
        url = urllib.parse.urlsplit(self.path)
        api = re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/(revision|tree)/([^/]+))?", url.path)
        file = re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", url.path)
        found = api or file
        if not found:
            self.answer(404, b"no such page")
            return
        if not self.may_read(found[1]):
            return
        revision = urllib.parse.unquote((api[3] if api else file[2]) or "main")
        commit = find(found[1], revision)
        if not commit:
            self.refuse(404, "RevisionNotFound", "Invalid rev id: " + revision)
        elif file:
            self.send_file(commit, urllib.parse.unquote(file[3]))
        elif api[2] == "tree":
            self.send_list(commit, urllib.parse.parse_qs(url.query))
        else:
            self.send_info(commit)

    def send_info(self, commit):
        if commit.repository == "hostile/no-commit":
            self.answer_json({"id": commit.repository, "sha": "../../x"})
            return
        files = [{"rfilename": path} for path in sorted(commit.files)]
        self.answer_json({"_id": "1", "id": commit.repository, "modelId": commit.repository,
                          "sha": commit.name, "private": False, "gated": False,
                          "disabled": False, "tags": [], "siblings": files})

    def send_list(self, commit, query):
        owner, kind = commit.repository.split("/")
        rows = rows_of(commit)
        if owner == "hostile":
            rows = hostile(kind, rows)
        if isinstance(rows, bytes):
            self.answer_json(rows)
            return
        at = int(query.get("cursor", ["0"])[0])
        here = f"http://{self.headers['host']}{self.path.split('?')[0]}"
        link = f"<{here}?recursive=true&cursor={at + PAGE}>"
        if owner == "hostile":
            link = link_of(kind, link, at)
        fields = {"Link": link + '; rel="next"'} if at + PAGE < len(rows) or kind == "circle" else {}
        self.answer_json(rows[at : at + PAGE], **fields)

    def send_file(self, commit, path):
        if path not in commit.files:
            self.refuse(404, "EntryNotFound", "Entry not found")
            return
        data = read(commit.files[path])
        fields = {"X_Repo_Commit": commit.name}
        if commit.repository == "hostile/other-bytes" and path.endswith(LARGE):
            data = data[:-1] + bytes([data[-1] ^ 1])
        if not path.endswith(LARGE):
            self.answer_data(data, ETag=f'"{git_name(data)}"', **fields)
            return
        name = digest(data)
        blobs[name] = data
        fields.update(X_Linked_Size=str(len(data)), X_Linked_Etag=f'"{name}"')
        self.answer(302, b"", Location=f"http://127.0.0.1:{data_port}/{name}?Expires=1", **fields)


def link_of(kind, link, at):
    others = {
        "link-host": link.replace("127.0.0.1", "localhost"),
        "link-port": re.sub(r":\d+/", f":{data_port}/", link),
        "link-path": link.replace("/tree/", "/other/"),
        "link-scheme": link.replace("http:", "https:"),
        "link-file": "<file:///etc/passwd>",
        "link-long": "<http://127.0.0.1/" + "x" * 5000 + ">",
        "link-open": link.replace(">", ""),
        "circle": link.replace(f"cursor={at + PAGE}", "cursor=0"),
    }
    return others.get(kind, link)


def start(handler):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # a client may hang up
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


data_port = start(Data)
print(start(Hub), data_port, flush=True)
threading.Event().wait()
