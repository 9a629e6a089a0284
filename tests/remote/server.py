#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# server.py - a server of HTTP that also answers wrongly, for tests
#
#     server.py FOLDER LOG [CERTIFICATE KEY]
#
# Prints its port, on 127.0.0.1.  The first part of a path is how it answers,
# the rest is the file: /good/model.gguf.  Each request is a line of LOG: path
# and range.  LOG.connections has how many there are, at each change.  Faults
# with a number happen in the first so many requests.
import mmap
import os
import re
import socket
import ssl
import sys
import threading
import time
from email.utils import formatdate

folder, log = sys.argv[1], sys.argv[2]
MODIFIED = "Sat, 28 Nov 2026 00:00:00 GMT"
counts = {}
lock = threading.Lock()


def note(path, headers):
    with lock, open(log, "a", encoding="utf-8") as out:
        out.write(f"{path} {headers.get('range', '-')}\n")


def count(key):
    with lock:
        counts[key] = counts.get(key, 0) + 1
        return counts[key]


def read_request(stream):
    line = stream.readline(65536).decode("latin-1").split()
    headers = {}
    while len(line) == 3:
        field = stream.readline(65536).decode("latin-1").strip()
        if not field:
            return line[1], headers
        name, _, value = field.partition(":")
        headers[name.lower()] = value.strip()
    return None, headers


class Answer:
    """What is sent: faults change it before that."""

    def __init__(self, data, asked):
        self.etag = '"one"'
        self.status, self.reason = 200, "OK"
        self.fields = []
        self.body = data
        self.length = None  # that is announced; None: the body's
        self.cut = None  # after so many bytes of the body the connection ends
        self.ends = None  # after so many bytes of all it does
        self.chunked = False
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", asked or "")
        if not match:
            return
        first, last = int(match[1]), min(int(match[2]), len(data) - 1)
        if first >= len(data):
            self.status, self.reason, self.body = 416, "No", b""
            self.fields.append(f"Content-Range: bytes */{len(data)}")
            return
        self.status, self.reason = 206, "Partial Content"
        self.body = data[first : last + 1]
        self.range = (first, last, len(data))

    def text(self):
        lines = [f"HTTP/1.1 {self.status} {self.reason}"]
        if self.status == 206 and self.range:
            lines.append("Content-Range: bytes %d-%d/%d" % self.range)
        if self.etag:
            lines.append(f"ETag: {self.etag}")
        if self.chunked:
            lines.append("Transfer-Encoding: chunked")
        else:
            size = len(self.body) if self.length is None else self.length
            lines.append(f"Content-Length: {size}")
        return "\r\n".join(lines + self.fields).encode("latin-1") + b"\r\n\r\n"

    def send(self, out):
        body = self.body
        if self.ends is not None:
            out.sendall((self.text() + bytes(body))[: self.ends])
            return False
        out.sendall(self.text())
        if self.chunked:
            body = b"".join(
                b"%x\r\n%s\r\n" % (len(body[i : i + 5000]), body[i : i + 5000])
                for i in range(0, len(body), 5000)
            )
            body += b"0\r\n\r\n"
        out.sendall(body[: self.cut])
        return self.cut is None


def refuse(answer, status, *fields):
    answer.status, answer.reason = status, "As you wish"
    answer.body = b"<html>not the file</html>"
    answer.fields = list(fields)


def no_ranges(answer, data):
    answer.status, answer.reason, answer.body = 200, "OK", data


def reset(out):
    out.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    out.close()


def fault(how, name, answer, data, out, asked):
    """False: the connection is over."""
    number = count(how + "/" + name)
    how, _, argument = how.partition("=")
    first, _, rest = argument.partition(",")
    value = int(first) if first.isdigit() else 0
    if how == "cut" and number <= int(rest or 1 << 30):
        answer.cut = value
    elif how == "ends" and number == int(rest or 1):
        answer.ends = value
    elif how == "ends-always":
        answer.ends = value
    elif how == "delay":
        time.sleep(value / 1000)
    elif how == "no-version":
        answer.etag = None
    elif how == "modified":
        answer.etag = None
        answer.fields.append(f"Last-Modified: {MODIFIED}")
    elif how == "etag-at" and number >= value:
        answer.etag = '"two"'
    elif how == "size-at" and number >= value:
        answer.range = answer.range[:2] + (answer.range[2] + 1,)
    elif how == "wait-until" and number == 1:
        date = formatdate(time.time() + value, usegmt=True)
        refuse(answer, 429, f"Retry-After: {date}")
    elif how == "wrong-range":
        answer.range = (answer.range[0] + 1, answer.range[1], answer.range[2])
    elif how == "short-range":
        answer.range = (answer.range[0], answer.range[1] - 1, answer.range[2])
        answer.body = answer.body[:-1]
    elif how == "more":
        answer.body += b"more"
        answer.chunked = True
    elif how == "no-total":
        answer.fields = ["Content-Range: bytes 0-1/*"]
        answer.range = None
    elif how == "twice":
        answer.fields.append("Content-Range: bytes 0-1/2")
    elif how == "negative":
        answer.range = None
        answer.fields.append("Content-Range: bytes -5-99999999999999999999/7")
    elif how == "length":
        answer.length = len(answer.body) + value
    elif how == "whole":
        no_ranges(answer, data)
    elif how == "whole-chunked":
        no_ranges(answer, data)
        answer.chunked = True
    elif how == "whole-later" and number > 1:
        no_ranges(answer, data)
    elif how == "etag" and number > 1:
        answer.etag = '"two"'
    elif how == "etag-lost" and number > 1:
        answer.etag = None
    elif how == "size" and number > 1:
        answer.range = answer.range[:2] + (answer.range[2] + 1,)
    elif how == "status" and number <= int(rest or 1 << 30):
        refuse(answer, value)
    elif how == "wait" and number == 1:
        refuse(answer, 429, f"Retry-After: {value}")
    elif how == "reset" and number <= value:
        reset(out)
        return False
    elif how == "stall":
        out.sendall(answer.text() + answer.body[:value])
        time.sleep(60)
        return False
    elif how == "drip":
        try:
            for byte in answer.text() + answer.body:
                out.sendall(bytes([byte]))
                time.sleep(0.2)
        except OSError:
            pass
        return False
    elif how == "huge-line":
        answer.fields.append("X-Long: " + "x" * 90000)
    elif how == "huge-header":
        answer.fields += [f"X-{i}: " + "x" * 1000 for i in range(90)]
    elif how == "gzip":
        answer.fields.append("Content-Encoding: gzip")
    elif how == "chunked":
        answer.chunked = True
    elif how == "not-http":
        out.sendall(b"\0\1\2 what?\n" * 100)
        return False
    elif how == "redirect":
        refuse(answer, 302, f"Location: /good/{name}")
    elif how == "circle":
        refuse(answer, 302, f"Location: /circle/{name}")
    elif how == "to":
        target = argument.replace("~", "/")
        refuse(answer, 307, f"Location: {target}/{name}")
    elif how == "expires":
        # what it redirects to is valid twice
        refuse(answer, 302, f"Location: /valid={value}-{number}/{name}")
    elif how == "valid" and number > int(argument.split("-")[0]):
        refuse(answer, 403)
    return True


def answer_one(out, path, headers):
    path = path.split("?")[0]
    _, how, name = path.split("/", 2)
    file = os.path.join(folder, name)
    if ".." in name or not os.path.isfile(file):
        answer = Answer(b"", None)
        refuse(answer, 404)
        return answer.send(out)
    with open(file, "rb") as opened:
        empty = os.fstat(opened.fileno()).st_size == 0
        data = b"" if empty else mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ)
    asked = headers.get("range")
    if headers.get("if-range", '"one"') not in ('"one"', MODIFIED):
        asked = None
    answer = Answer(data, asked)
    if not fault(how, name, answer, data, out, asked):
        return False
    return answer.send(out)


def connected(change):
    with lock, open(log + ".connections", "a", encoding="utf-8") as out:
        counts["open"] = counts.get("open", 0) + change
        out.write(f"{counts['open']}\n")


def serve(out):
    connected(1)
    try:
        if context:
            out = context.wrap_socket(out, server_side=True)
        stream = out.makefile("rb")
        while True:
            path, headers = read_request(stream)
            if path is None:
                break
            note(path, headers)
            if not answer_one(out, path, headers):
                break
        out.shutdown(socket.SHUT_RDWR)
    except (OSError, ssl.SSLError):
        pass
    finally:
        connected(-1)
        out.close()


context = None
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3], sys.argv[4])
listening = socket.create_server(("127.0.0.1", 0), backlog=64)
print(listening.getsockname()[1], flush=True)
while True:
    accepted, _ = listening.accept()
    threading.Thread(target=serve, args=(accepted,), daemon=True).start()
