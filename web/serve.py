# SPDX-License-Identifier: MIT
#
# serve.py - serves a folder on 127.0.0.1, with ranges of bytes
#
#     python3 web/serve.py FOLDER [PORT]
#
# For remote.html on the machine where it was built.  Other pages may read the
# files, too (CORS), as they may from a server that shares models.
import http.server
import os
import re
import sys


class Handler(http.server.SimpleHTTPRequestHandler):
    left = None  # bytes of the range still to be sent; None: all of the file

    def send_head(self):
        self.left = None
        path = self.translate_path(self.path)
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not asked or not os.path.isfile(path):
            return super().send_head()
        size = os.path.getsize(path)
        first = int(asked[1])
        last = min(int(asked[2]) if asked[2] else size - 1, size - 1)
        if first > last:
            self.send_error(416)
            return None
        file = open(path, "rb")
        file.seek(first)
        self.left = last + 1 - first
        self.send_response(206)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(self.left))
        self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.end_headers()
        return file

    def copyfile(self, source, outputfile):
        if self.left is None:
            super().copyfile(source, outputfile)
            return
        while self.left > 0:
            part = source.read(min(self.left, 1 << 16))
            if not part:
                return
            outputfile.write(part)
            self.left -= len(part)

    def end_headers(self):
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Access-Control-Expose-Headers", "Content-Range")
        super().end_headers()

    def do_OPTIONS(self):
        self.send_response(204)
        self.send_header("Access-Control-Allow-Headers", "Range")
        self.end_headers()


def main():
    folder, port = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 8765
    make = lambda *rest: Handler(*rest, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), make) as server:
        print(f"http://127.0.0.1:{server.server_port}/local.html", flush=True)
        print(f"http://127.0.0.1:{server.server_port}/remote.html", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass


main()
