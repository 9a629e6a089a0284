#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# same.py - whether the program answers about a pipe as about the file
#
#     same.py PROGRAM CHUNKS COMMAND... -- FILE...
#
# CHUNKS is a list such as 1,4096,0: so many bytes are written at a time, to a
# pipe that gives 1, or has room for 4096 (0: all, to a usual one).  COMMAND has
# '-' where the model is.  Prints what differs, and at the end how many answers were equal and
# how many pipes were refused with a reason.
import fcntl
import json
import os
import subprocess
import sys
import threading

HINT = "save it to a file first"


def feed(descriptor, data, chunk):
    try:
        for at in range(0, len(data), chunk):
            part = data[at : at + chunk]
            while part:
                part = part[os.write(descriptor, part) :]
    except BrokenPipeError:
        pass
    finally:
        os.close(descriptor)


def run(words, stdin):
    done = subprocess.run(words, stdin=stdin, capture_output=True, timeout=120)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def through_pipe(words, data, chunk):
    # With O_DIRECT a read gets what one write has put there, and no more; what
    # it does not take is lost, so that is for single bytes.
    reader, writer = os.pipe2(os.O_CLOEXEC | (os.O_DIRECT if chunk == 1 else 0))
    if chunk > 1:
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    thread = threading.Thread(target=feed, args=(writer, data, chunk or 1 << 20))
    thread.start()
    try:
        return run(words, reader)
    finally:
        os.close(reader)
        thread.join()


def answer(text):
    try:
        document = json.loads(text)
    except ValueError:
        return text
    document.pop("run", None)
    for file in document.get("files", []):
        file.pop("length_known", None)
    return document


def main():
    program, chunks, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
    words = [program, "--quiet"] + rest[: rest.index("--")]
    equal = refused = 0
    failed = False
    for path in rest[rest.index("--") + 1 :]:
        with open(path, "rb") as file:
            wanted = run(words, file)
            file.seek(0)
            data = file.read()
        for chunk in map(int, chunks.split(",")):
            found = through_pipe(words, data, chunk)
            if HINT in found[2] and found[0] == 3:
                refused += 1
            elif (found[0], answer(found[1])) == (wanted[0], answer(wanted[1])):
                equal += 1
            else:
                failed = True
                print(f"{path}, {chunk} bytes at a time: {words}")
                print("file:", wanted[0], wanted[1][:3000].decode(errors="replace"))
                print(wanted[2])
                print("pipe:", found[0], found[1][:3000].decode(errors="replace"))
                print(found[2])
    print(f"{equal} equal, {refused} refused")
    sys.exit(failed)


main()
