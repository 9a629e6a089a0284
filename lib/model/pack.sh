#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pack.sh - a text of the program as a table of C, for lib/model/packed.c
#
#     sh lib/model/pack.sh NAME [plain] <text >table.c
#
# struct mf_packed NAME: raw deflate, or with "plain", for a library without
# zlib, the text as it is.
set -eu

name=$1
plain=false
[ "${2-}" != plain ] || plain=true

# packed: without gzip's header of 10 bytes and its last 8.
packed() {
    if [ $plain = true ]; then
        cat
    else
        gzip -9n | tail -c +11 | head -c -8
    fi
}

echo '#include "lib/program.h"'
echo "static const uint8_t ${name}_bytes[] = {"
packed | od -An -v -tu1 | tr -s ' ' ',' | sed 's/^,//; s/,*$/,/'
echo "};"
echo "const struct mf_packed $name = {"
echo "    ${name}_bytes, sizeof(${name}_bytes), $([ $plain = true ] && echo false || echo true)"
echo "};"
