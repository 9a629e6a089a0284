#!/bin/sh
# SPDX-License-Identifier: MIT
#
# dist.t - a release is complete, says what is in it, and is the same anywhere
#
# The static program and packages take minutes, twice: REPRODUCE=1 makes all of
# that in two folders, at different times, with another umask, locale and time
# zone.  Else the rest is, with the program that is there.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh

if [ -n "${QUICK:-}${SAN:-}" ]; then
    skip "a release" "the plain tests do this"
    finish
fi
. tests/lib-run.sh
. tests/lib-python.sh

cc=${CC:-cc}
name=modelfile-$version
program=$name-linux-$($cc -dumpmachine | sed 's/-.*//')

if [ ! -e "$($cc -print-file-name=libc.a)" ]; then
    skip "a release" "this system has no libc.a"
    finish
fi
if ! has_python; then
    skip "a release" "there is no python3 to pack the sources"
    finish
fi
if [ -z "${REPRODUCE:-}" ]; then
    made static >/dev/null 2>&1
    export RELEASE_PROGRAM="$build/static/modelfile"
    RELEASE_WHEEL=$(made wheel 2>/dev/null)
    export RELEASE_WHEEL
fi

# A copy of the tree as an archive has it: no repository.
mkdir "$dir/here" "$dir/a place"
find . \( -path './build*' -o -path ./.git \) -prune -o ! -type d -print |
    tar -c -T - | tar -x -C "$dir/here"
cp -R "$dir/here/." "$dir/a place"
release() { # FOLDER UMASK LOCALE ZONE
    (cd "$1" && umask "$2" && LC_ALL=$3 TZ=$4 SOURCE_DATE_EPOCH=1700000000 \
        BUILD="$1/build" CC="$cc" sh .ci/release) >"$dir/log" 2>&1 ||
        { cat "$dir/log"; return 1; }
}
check "a release is made" release "$dir/here" 022 C UTC
# Files are older or newer in another copy.
find "$dir/a place" -type f -exec touch -d '2001-02-03 04:05:06' {} +
chmod -R go-rwx "$dir/a place"
check "and in another place" release "$dir/a place" 077 C.UTF-8 Asia/Tokyo
one=$dir/here/build/dist
check "it is the same, byte by byte" diff -r "$one" "$dir/a place/build/dist"

complete() {
    for file in "$name.tar.gz" "$name.cdx.json" "$program" SHA256SUMS; do
        [ -s "$one/$file" ] || echo "no $file"
    done
    [ "$(find "$one" -name "$name-py3-none-*.whl" | wc -l)" -eq 1 ] || echo "no wheel"
    (cd "$one" && sha256sum --check --quiet SHA256SUMS 2>&1)
    (cd "$one" && for file in *; do
        [ "$file" = SHA256SUMS ] || grep -q "  $file\$" SHA256SUMS ||
            echo "$file is not in SHA256SUMS"
    done)
}
check_empty "all files are there, and have digests" complete
dated() {
    find "$one" ! -newermt @1699999999 -o -newermt @1700000001
    tar -tvf "$one/$name.tar.gz" --utc --full-time |
        awk '$2 != "0/0" || $4 " " $5 != "2023-11-14 22:13:20" ||
            $1 !~ /^[-l]rw[x-]r-[x-]r-[x-]$|^lrwx/'
}
check_empty "owners, modes and dates say nothing of who made it" dated
sources() {
    # These two are not in the repository: pip looks for them.
    tar -tf "$one/$name.tar.gz" | sed "s|^$name/||" | sort >"$dir/all"
    grep -vx 'PKG-INFO\|pyproject.toml' "$dir/all" >"$dir/packed"
    [ $(($(wc -l <"$dir/all") - $(wc -l <"$dir/packed"))) -eq 2 ] ||
        echo "no PKG-INFO, or no pyproject.toml"
    if [ -e .git ] && git ls-files >"$dir/listed" 2>/dev/null; then
        git status --porcelain --untracked-files=all | sed -n 's/^?? //p' >>"$dir/listed"
        sort "$dir/listed" | diff - "$dir/packed"
    fi
    grep -x 'build/.*\|fixtures/good-base.gguf' "$dir/packed"
}
check_empty "the archive has the repository's files" sources
check "the program is the version" sh -c \
    '"$0" version --quiet | grep -qx "modelfile $1"' "$one/$program" "$version"

# ---- a tag of the commit

tagged() { # TAG
    rm -rf "$dir/repo" && mkdir "$dir/repo" && cd "$dir/repo" &&
        tar -xf "$one/$name.tar.gz" --strip-components=1 && git init -q . &&
        git add -A && git -c user.name=t -c user.email=t@t commit -q -m t &&
        git tag "$1" && BUILD=$dir/repo/build sh .ci/release >"$dir/log" 2>&1
}
if command -v git >/dev/null && [ -n "${RELEASE_PROGRAM:-}" ]; then
    check "a tag that agrees" eval '(tagged "v$version")'
    refuses_tag() {
        ! (tagged v9.9.9) && grep -q 'tag v9.9.9' "$dir/log"
    }
    check "one that does not" refuses_tag
else
    skip "a tag of the commit" "git is not installed, or REPRODUCE is set"
fi

# ---- what is in it

sbom=$one/$name.cdx.json
if command -v jq >/dev/null; then
    has_structure() {
        jq -e --arg version "$version" --arg sum \
            "$(sha256sum "$one/$program" | cut -d ' ' -f 1)" '
            (.bomFormat == "CycloneDX") and (.specVersion == "1.5") and
            (.version == 1) and
            (.serialNumber | test("^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")) and
            (.metadata.timestamp == "2023-11-14T22:13:20Z") and
            (.metadata.component | .name == "modelfile" and .version == $version
                and .hashes[0].content == $sum) and
            ([.components[].name] == ["glibc", "libgcc", "libgomp", "xxhash", "zlib"]) and
            ([.components[] | (.version | test("^[0-9]+(\\.[0-9]+)+$")) and
                .type == "library" and (.licenses | length == 1)] | all) and
            (([.components[]."bom-ref"] + ["modelfile"]) as $refs |
                [.dependencies[] | .ref, .dependsOn[]?] | all(. as $r | $refs | index($r)))
            ' "$sbom"
    }
    check "the bill of materials has its structure" has_structure
else
    skip "the bill of materials has its structure" "jq is not installed"
fi
# CYCLONEDX_NODE: a folder in which npm installed @cyclonedx/cyclonedx-library,
# ajv, ajv-formats and ajv-formats-draft2019.
if [ -n "${CYCLONEDX_NODE:-}" ] && command -v node >/dev/null; then
    cat >"$dir/schema.cjs" <<'JS'
const { Spec, Validation } = require("@cyclonedx/cyclonedx-library");
const text = require("fs").readFileSync(process.argv[2], "utf8");
new Validation.JsonStrictValidator(Spec.Version.v1dot5).validate(text).then(
    error => { if (error) { console.log(error); process.exit(1); } },
    error => { console.log(String(error)); process.exit(2); });
JS
    check "it is valid by its schema" env NODE_PATH="$CYCLONEDX_NODE/node_modules" \
        node "$dir/schema.cjs" "$sbom"
else
    skip "it is valid by its schema" \
        "needs a folder with @cyclonedx/cyclonedx-library (CYCLONEDX_NODE)"
fi

# ---- in a container

image() {
    mkdir "$dir/context" && cp "$one/$program" "$dir/context/modelfile" &&
        buildah --root "$dir/store" --runroot "$dir/run" --storage-driver vfs \
            build --isolation chroot -f .ci/Containerfile \
            -t "oci-archive:$dir/image.tar" "$dir/context" >"$dir/log" 2>&1 &&
        tar -tf "$dir/image.tar" | grep -q '^index.json$' ||
        { cat "$dir/log"; return 1; }
}
if command -v buildah >/dev/null && [ "$(id -u)" -eq 0 ]; then
    check "an image is built" image
else
    skip "an image is built" "buildah is not installed, or not root"
fi
copies() {
    grep -qx 'FROM scratch' .ci/Containerfile &&
        [ "$(grep -c '^COPY\|^ADD' .ci/Containerfile)" -eq 1 ] &&
        grep -qx 'ENTRYPOINT \["/modelfile"\]' .ci/Containerfile
}
check "its file adds the program to nothing" copies

finish
