#!/bin/sh
# SPDX-License-Identifier: MIT
#
# store.t - caches of models: listing, checking, finding and sharing equal files
#
# The stores are made here, as the programs that own them lay them out.  Digests
# come from sha256sum and git.  Reflinks need a file system that has them: as
# root, one is made and mounted where mkfs.btrfs or mkfs.xfs is installed.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

model=$fixtures/good-llama.gguf
other=$fixtures/good-base.gguf
cd "$dir" || exit 1
mkdir home
export HOME="$dir/home"
unset HF_HUB_CACHE HUGGINGFACE_HUB_CACHE HF_HOME XDG_CACHE_HOME OLLAMA_MODELS \
    LLAMA_CACHE

sha() {
    sha256sum "$1" | cut -d ' ' -f 1
}

# ---- four stores

revision=0123456789abcdef0123456789abcdef01234567
digest=$(sha "$model")
size=$(($(wc -c <"$model")))
echo '{"a": 1}' >config
config=$(sha config)

# manifest DIGEST SIZE: of a model and a configuration.
manifest() {
    cat <<JSON
{"schemaVersion": 2,
 "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
 "config": {"mediaType": "application/vnd.docker.container.image.v1+json",
            "digest": "sha256:$config", "size": 9},
 "layers": [{"mediaType": "application/vnd.ollama.image.model",
             "digest": "$1", "size": $2}]}
JSON
}

# Below $1.
make_ollama() {
    mkdir -p "$1/blobs" "$1/manifests/registry.ollama.ai/library/tiny" \
        "$1/manifests/hf.co/me/tiny-GGUF"
    cp "$model" "$1/blobs/sha256-$digest"
    cp config "$1/blobs/sha256-$config"
    manifest "sha256:$digest" "$size" \
        >"$1/manifests/registry.ollama.ai/library/tiny/latest"
    manifest "sha256:$digest" "$size" >"$1/manifests/hf.co/me/tiny-GGUF/Q8_0"
}

# The name that git gives a file, by sha1sum.
git_name() {
    { printf 'blob %s\0' $(($(wc -c <"$1"))); cat "$1"; } | sha1sum |
        cut -d ' ' -f 1
}

make_hub() {
    hub_at=$1/models--me--tiny
    mkdir -p "$hub_at/blobs" "$hub_at/refs" "$hub_at/snapshots/$revision/q8"
    cp "$model" "$hub_at/blobs/$digest"
    cp config "$hub_at/blobs/$(git_name config)"
    printf %s $revision >"$hub_at/refs/main"
    ln -s "../../blobs/$(git_name config)" "$hub_at/snapshots/$revision/config.json"
    ln -s "../../../blobs/$digest" "$hub_at/snapshots/$revision/q8/tiny.gguf"
}

make_llama() {
    mkdir -p "$1"
    cp "$model" "$1/me_tiny-GGUF_tiny.gguf"
    cat >"$1/manifest=me=tiny-GGUF=latest.json" <<JSON
{"ggufFile": {"rfilename": "tiny.gguf", "size": $size,
              "lfs": {"sha256": "$digest", "size": $size}}}
JSON
}

make_lmstudio() {
    mkdir -p "$1/me/tiny-GGUF"
    cp "$model" "$1/me/tiny-GGUF/tiny.gguf"
}

make_all() {
    rm -rf ol hub llama lms
    make_ollama ol && make_hub hub && make_llama llama &&
        make_lmstudio lms
}

# ---- list

make_all
# lists TEXT...: each is in the list of all four.
lists() {
    ends 0 store list ol hub llama lms || return
    for text in "$@"; do
        grep -qF -- "$text" out && continue
        echo "not listed: $text"
        cat out
        return 1
    done
}
check "models are listed with names, type and size" lists \
    "  hf.co/me/tiny-GGUF:Q8_0 " "  tiny:latest " "  me/tiny@main/q8/tiny.gguf " \
    "  me_tiny-GGUF_tiny.gguf " "  me/tiny-GGUF/tiny.gguf " "Q8_0" "23.7 KiB"
check "what several models share is counted once" lists \
    "5 models, 94.9 KiB, of which several models share 23.7 KiB"
headers_only() {
    cp -r lms large && truncate -s 300M large/me/tiny-GGUF/tiny.gguf &&
        expect 0 "300.0 MiB" store list large &&
        ends 0 store list large && ! grep -qE 'read [0-9.]+ MiB of' err
}
check "only headers are read" headers_only
json() {
    ends 0 store list --json ol hub &&
        python3 -c 'import json, sys
d = json.load(open("out"))
names = [m["name"] for m in d["models"]]
assert names == ["hf.co/me/tiny-GGUF:Q8_0", "tiny:latest", "me/tiny@main"], names
assert d["models"][1]["type"] == "Q8_0" and d["models"][1]["shared_bytes"] > 20000
assert d["models"][2]["file"] == "q8/tiny.gguf" and not d["partial"]'
}
check "in JSON, too" json

usual() {
    mkdir -p home/.cache/huggingface home/.ollama home/.lmstudio home/.cache &&
        cp -r hub home/.cache/huggingface/hub && cp -r llama home/.cache/llama.cpp &&
        cp -r ol home/.ollama/models && cp -r lms home/.lmstudio/models &&
        expect 0 "5 models" store list &&
        HF_HOME=$dir/none OLLAMA_MODELS=$dir/none LLAMA_CACHE=$dir/none \
            expect 0 "1 model," store list &&
        HF_HUB_CACHE=$dir/hub expect 0 "$dir/hub" store list huggingface &&
        expect 0 "2 models" store list ollama
}
check "without a STORE all places that programs use are read" usual
# LM Studio writes where its home is.
pointer() {
    mkdir -p elsewhere && cp -r lms elsewhere/models &&
        echo "$dir/elsewhere" >home/.lmstudio-home-pointer &&
        expect 0 "$dir/elsewhere/models" store list lmstudio &&
        expect 0 "2 models" store list lmstudio
    found=$?
    rm -rf elsewhere home/.lmstudio-home-pointer
    return $found
}
check "the home of LM Studio may be elsewhere" pointer
# llama.cpp v0.5.0 lays $LLAMA_CACHE out as huggingface_hub does; older versions
# had files of another layout there.
both() {
    mkdir both && cp -r hub/models--me--tiny both && cp llama/* both &&
        LLAMA_CACHE=$dir/both expect 0 "me/tiny@main/q8/tiny.gguf" \
            store list huggingface &&
        LLAMA_CACHE=$dir/both expect 0 "me_tiny-GGUF_tiny.gguf" \
            store list llama.cpp &&
        expect 0 "2 models" store list both &&
        HF_HOME=$dir/none LLAMA_CACHE=$dir/both OLLAMA_MODELS=$dir/none \
            expect 0 "3 models," store list &&
        HUGGINGFACE_HUB_CACHE=$dir/hub expect 0 "$dir/hub" \
            store list huggingface
}
check "a folder of old and new versions of llama.cpp" both
check "a kind of store that is not there is empty" \
    env LLAMA_CACHE="$dir/none" "$modelfile" store list --quiet llama.cpp
mkdir nothing
check "a folder without a layout is refused" \
    expect 3 "no folder with a layout that is known" store list nothing

# ---- check

all_right() {
    expect 0 "6 files, 5 digests checked, no problem" \
        store check ol hub llama lms
}
make_all
check "stores as they should be have no problem" all_right

# finds CODE TEXT STORE [OPTION]: and the stores are made again.
finds() {
    expect 1 "$1" store check "$2" ${3:+"$3"}
    found=$?
    make_all
    return $found
}
printf x | dd of="ol/blobs/sha256-$digest" bs=1 seek=9000 conv=notrunc 2>/dev/null
check "a flipped byte of a blob of Ollama" finds "its SHA-256 is " ol
printf x | dd of="hub/models--me--tiny/blobs/$digest" bs=1 seek=9000 conv=notrunc 2>/dev/null
check "of the cache of huggingface_hub" finds "not $digest" hub
echo '{"b": 1}' >"hub/models--me--tiny/blobs/$(git_name config)"
check "a small file that git names" finds "the name that git gives it" hub
printf x | dd of=llama/me_tiny-GGUF_tiny.gguf bs=1 seek=9000 conv=notrunc 2>/dev/null
check "a file whose digest llama.cpp's manifest has" finds "its SHA-256 is" llama
rm "ol/blobs/sha256-$digest"
check "a layer that is missing" finds "which is missing" ol
rm hub/models--me--tiny/blobs/"$digest"
check "a link to a blob that is missing" finds "q8/tiny.gguf: leads to" hub
rm llama/*.gguf
check "a file that a manifest of llama.cpp names" finds "which is missing" llama
echo >>"ol/blobs/sha256-$digest"
check "a layer that is too large, without reading it" \
    finds "has 24,289 bytes, not 24,288 as the manifest says" ol --quick
: >"ol/blobs/sha256-$digest-partial-0"
check "a half-fetched file of Ollama" finds "half-fetched" ol
: >"hub/models--me--tiny/blobs/$digest.1234.incomplete"
check "of huggingface_hub" finds "half-fetched" hub
: >"hub/models--me--tiny/blobs/$digest.downloadInProgress"
check "of llama.cpp in that layout" finds "half-fetched" hub
printf x | dd of=llama/me_tiny-GGUF_tiny.gguf bs=1 seek=9000 conv=notrunc 2>/dev/null
sed 's/ggufFile/mmprojFile/' "llama/manifest=me=tiny-GGUF=latest.json" >manifest &&
    mv manifest "llama/manifest=me=tiny-GGUF=latest.json"
check "a projector whose digest llama.cpp's manifest has" \
    finds "its SHA-256 is" llama
: >llama/x.gguf.downloadInProgress
check "of llama.cpp" finds "half-fetched" llama
: >lms/me/tiny-GGUF/x.gguf.part
check "of LM Studio" finds "half-fetched" lms
quick() {
    printf x | dd of="ol/blobs/sha256-$digest" bs=1 seek=9000 conv=notrunc 2>/dev/null
    expect 0 "0 digests checked, no problem" store check --quick ol
    found=$?
    make_all
    return $found
}
check "--quick reads no digest" quick

# ---- validate --data of a file that is named by its digest

# named FILE: it is compared, and right; also with several threads.
named() {
    for threads in 1 3; do
        expect 0 "data checked, SHA-256 of its name compared" \
            validate --data -t $threads "$1" || return
    done
    ends 0 validate --data --json "$1" &&
        grep -q '"names_compared":1' out
}
blob=hub/models--me--tiny/blobs/$digest
snapshot=hub/models--me--tiny/snapshots/$revision/q8/tiny.gguf
check "a blob of huggingface_hub" named "$blob"
check "a link of a snapshot" named "$snapshot"
check "a blob of Ollama" named "ol/blobs/sha256-$digest"
ollama_name() {
    OLLAMA_MODELS=$dir/ol expect 0 "SHA-256 of its name compared" \
        validate --data ollama:tiny
}
check "a name of Ollama" ollama_name
header_of_named() {
    ends 0 validate "$blob" && ! grep -q SHA-256 out
}
check "not of a header" header_of_named
# A file of 64 digits, and a folder of blobs, that are not a store's.
not_named() {
    mkdir -p any/blobs && cp "$model" "any/$digest" &&
        cp "$model" "any/blobs/$(echo "$digest" | tr '[:alpha:]' 0)" &&
        ends 0 validate --data "any/$digest" any/blobs/* &&
        ! grep -q SHA-256 out
}
check "64 digits elsewhere are a name like any" not_named

# broken FILE WHERE: the byte is another; its finding names both digests.
broken() {
    cp "$1" kept
    printf x | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
    expect 1 "error FILE-DIGEST at 0x0: the SHA-256 of the file is $(sha "$1"), but" \
        validate --data -t "$3" "$1" && grep -q "named $digest" out
    found=$?
    cp kept "$1"
    return $found
}
# In a name, in tensors, in the last byte, and after it.
each_byte() {
    name_at=$(grep -abo -m 1 general.name "$blob" | head -n 1 | cut -d : -f 1)
    for place in $((name_at + 9)) 9000 $((size - 1)) "$size"; do
        broken "$blob" "$place" 1 && broken "$blob" "$place" 4 || return
    done
}
check "a byte that was changed, wherever it is" each_byte
more_formats() {
    hub_blobs=formats/models--me--more/blobs
    mkdir -p $hub_blobs
    for file in "$fixtures"/good-*.safetensors "$fixtures"/good-*.apr \
        "$fixtures"/good-*.npy "$fixtures"/good-*.npz "$fixtures"/good-torch*.pt \
        "$fixtures"/good-*.gguf; do
        case $file in *-0000*) continue ;; esac
        digest=$(sha "$file")
        cp "$file" "$hub_blobs/$digest"
        expect 0 "SHA-256 of its name compared" \
            validate --data --hide warnings,notes "$hub_blobs/$digest" || return
        printf x >>"$hub_blobs/$digest"
        "$modelfile" validate --data --quiet "$hub_blobs/$digest" >out 2>&1
        # Bytes after an archive's end may be more than it can be read with.
        grep -q "FILE-DIGEST at 0x0: the SHA-256 of the file is $(sha "$hub_blobs/$digest")" \
            out || grep -q "error ZIP" out || { cat out && return 1; }
        rm "$hub_blobs/$digest"
    done
    digest=$(sha "$model")
}
check "files of all formats" more_formats
shards() {
    "$modelfile" split --quiet "$model" part --max-tensors 10 >out || return
    at=parts/models--me--parts
    mkdir -p $at/blobs $at/snapshots/x
    for part in part-*; do
        mv "$part" "$at/blobs/$(sha "$part")" || return
    done
    number=0
    for blob in $(cd $at/blobs && ls); do
        "$modelfile" meta get --quiet --one-file $at/blobs/"$blob" split.no >number
        ln -s "../../blobs/$blob" \
            "$at/snapshots/x/part-$(printf %05d $(($(cat number) + 1)))-of-00003.gguf"
    done
    expect 0 "SHA-256 of their names compared" \
        validate --data $at/snapshots/x/part-00001-of-00003.gguf || return
    last=$(readlink -f $at/snapshots/x/part-00002-of-00003.gguf)
    printf x | dd of="$last" bs=1 seek=5000 conv=notrunc 2>/dev/null
    for threads in 1 3; do
        expect 1 "part-00002-of-00003.gguf: error FILE-DIGEST" validate --data \
            -t $threads $at/snapshots/x/part-00001-of-00003.gguf || return
        [ "$(grep -c FILE-DIGEST out)" = 1 ] || return
    done
}
check "each shard is compared" shards

# ---- hostile stores

tags=ol/manifests/hf.co/me/tiny-GGUF
manifest "sha256:../../../../etc/passwd" 3 >$tags/a
check "a digest with a path is not the name of a file" \
    finds "names a layer by 'sha256:../../../../etc/passwd', which is not a digest" ol
manifest "sha256:$(printf 'z%.0s' $(seq 64))" 3 >$tags/a
check "nor one without hexadecimal digits" finds "which is not a digest" ol
manifest "sha256:$digest" 1e400 >$tags/a
check "a size that is not a number of bytes" finds "as the manifest says" ol
head -c 2000000 /dev/zero | tr '\0' ' ' >$tags/a
check "a manifest that is too large" finds "at most 1048576 are read" ol
awk 'BEGIN { for (i = 0; i < 500000; i++) printf "[" }' >$tags/a
check "one that is too deep" finds "cannot be read as a manifest" ol
mkdir $tags/a
check "one that is a folder" finds "$tags/a: is not a file" ol
mkfifo $tags/a
check "one that is a pipe" finds "$tags/a: is not a file" ol
ln -s /dev/zero $tags/a
check "one that is a link" finds "$tags/a: is not a file" ol
manifest "$(printf '\\u001b[31m')" 3 >"$tags/$(printf 'a\033[31mb\nc')"
check "control characters are escaped" finds 'a\x1b[31mb\nc: names' ol
ln -s /etc/passwd "hub/models--me--tiny/snapshots/$revision/out.gguf"
check "a link that leads out of the repository" \
    finds "leads to '/etc/passwd', which is not a blob of this model" hub
ln -s ../../../secret "hub/models--me--tiny/snapshots/$revision/out.gguf"
check "also by .." finds "which is not a blob of this model" hub
hostile_list() {
    manifest "sha256:../x" 3 >$tags/a
    mkdir $tags/b
    ln -s . "hub/models--me--tiny/snapshots/$revision/loop"
    ln -s /etc "hub/models--me--tiny/snapshots/$revision/etc"
    expect 0 "problem" store list ol hub && expect 1 "" store check ol hub &&
        expect 0 "" store duplicates ol hub
    found=$?
    make_all
    return $found
}
check "hostile stores are listed" hostile_list

# ---- duplicates

duplicates() {
    ends 0 store duplicates ol hub llama lms &&
        grep -q "1 set of equal files, 72,864 bytes could be saved" out &&
        [ "$(grep -c "^  " "$dir/out")" = 4 ]
}
make_all
check "equal files are found over all stores" duplicates
links() {
    rm lms/me/tiny-GGUF/tiny.gguf &&
        ln llama/*.gguf lms/me/tiny-GGUF/tiny.gguf &&
        expect 0 "no two files are equal" store duplicates llama lms
}
check "two names of one file are not two" links
alike() {
    make_all
    printf x | dd of=llama/me_tiny-GGUF_tiny.gguf bs=1 seek=24287 conv=notrunc 2>/dev/null
    expect 0 "no two files are equal" store duplicates llama lms
}
check "files of one size that differ are not equal" alike
tensors() {
    rm -rf convert && mkdir -p convert/me/as
    "$modelfile" convert --quiet "$other" convert/me/as/model.safetensors &&
        cp "$other" convert/me/as/model.gguf &&
        expect 0 "no two files are equal" store duplicates --tensors convert &&
        grep -q "2 tensors, .* bytes, equal to others" out
}
check "equal tensors are found whatever the container" tensors

# ---- reclaim by hard links

whole() {
    for file in "ol/blobs/sha256-$digest" "hub/models--me--tiny/blobs/$digest" \
        llama/me_tiny-GGUF_tiny.gguf lms/me/tiny-GGUF/tiny.gguf; do
        cmp "$model" "$file" || return
    done
}
inodes() {
    stat -L -c %i "ol/blobs/sha256-$digest" "hub/models--me--tiny/blobs/$digest" \
        llama/*.gguf lms/me/tiny-GGUF/tiny.gguf | sort -u | wc -l
}
dry_run() {
    expect 0 "3 files, 72,864 bytes would be reclaimed" \
        store reclaim --dry-run --hard-links ol hub llama lms &&
        [ "$(inodes)" = 4 ]
}
make_all
check "--dry-run changes nothing" dry_run
hard() {
    expect 0 "3 files, 72,864 bytes reclaimed" \
        store reclaim --hard-links ol hub llama lms && whole &&
        [ "$(inodes)" = 1 ] && [ "$(stat -c %a llama/*.gguf)" = 444 ] &&
        all_right && [ -z "$(find . -name '.*.tmp')" ]
}
check "--hard-links makes equal files one" hard
check "a second time there is nothing to do" \
    expect 0 "0 files, 0 bytes reclaimed" store reclaim --hard-links ol hub llama lms

in_place() {
    chmod 644 llama/*.gguf
    expect 2 "the file has 4 names (hard links)" meta set llama/*.gguf general.name=x &&
        whole && expect 2 "hard links" meta set --dry-run llama/*.gguf general.name=x &&
        expect 0 "rewritten" meta set --reserve 4K llama/*.gguf general.name=x &&
        cmp "$model" lms/me/tiny-GGUF/tiny.gguf &&
        expect 0 "in place" meta set --force lms/me/tiny-GGUF/tiny.gguf general.name=y &&
        ! cmp -s "$model" "ol/blobs/sha256-$digest"
}
check "an edit in place of a file with several names is refused" in_place

# skips TEXT: the file of llama stays as it is.
skips() {
    skipped=$(stat -c '%i %a %u %y' llama/*.gguf)
    expect 0 "$1" store reclaim --hard-links lms llama &&
        expect 0 "0 files, 0 bytes" store reclaim --hard-links lms llama &&
        [ "$skipped" = "$(stat -c '%i %a %u %y' llama/*.gguf)" ]
}
make_all
ln llama/*.gguf llama-other-name
check "a file with several names stays" skips "it has several names"
make_all
chmod 444 llama/*.gguf
check "a write-protected file stays" skips "it is write-protected"
if [ "$(id -u)" = 0 ]; then
    make_all
    chown 12345 llama/*.gguf
    check "a file of another user stays" skips "it belongs to another user"
else
    skip "a file of another user stays" "only root can make one"
fi
planted() {
    make_all
    mkdir secret && cp "$model" secret/precious && chmod 600 secret/precious
    rm llama/*.gguf && ln -s "$dir/secret/precious" llama/me_tiny-GGUF_tiny.gguf
    expect 0 "0 files, 0 bytes" store reclaim --hard-links lms llama &&
        [ "$(stat -c '%h %a' secret/precious)" = "1 600" ]
}
check "links are not followed" planted

# Nothing but the stores may be written to.
outside() {
    make_all
    command -v strace >/dev/null 2>&1 || return 0
    "$modelfile" version --json | grep -q '"landlock":[1-9]' || return 0
    strace -f -qq -e trace=landlock_add_rule,open,openat -y -o trace \
        "$modelfile" store reclaim --quiet --hard-links lms llama >/dev/null 2>&1
    [ "$(grep -c 'landlock_add_rule.*= 0' trace)" = 2 ] || { cat trace; return 1; }
}
check "the sandbox leaves only the stores to write to" outside

# ---- kills

big() {
    rm -rf many && mkdir many
    for name in a b c d; do
        cp "$dir/big" "many/$name.gguf"
    done
}
head -c 8000000 /dev/urandom >big
# killed SIGNAL OPTION...: thirty times, later each time; every file is whole.
killed() {
    signal=$1 struck=0
    shift
    for i in $(seq 30); do
        big
        "$modelfile" store reclaim --quiet "$@" many >out 2>&1 &
        pid=$!
        sleep "$(awk -v i="$i" 'BEGIN { print i * 0.003 }')"
        kill -"$signal" $pid 2>/dev/null
        wait $pid 2>/dev/null
        [ $? -lt 128 ] || struck=$((struck + 1))
        for name in a b c d; do
            cmp "$dir/big" "many/$name.gguf" || return
        done
        [ "$signal" = KILL ] || [ -z "$(find many -name '.*.tmp')" ] || return
    done
    [ $struck -ge 3 ] || echo "only $struck were stopped"
    [ $struck -ge 3 ] && "$modelfile" store reclaim --quiet "$@" many >out 2>&1 &&
        cmp "$dir/big" many/d.gguf
}
check "killed 30 times, every file is whole" killed KILL --hard-links
check "ended by a signal, there is no temporary file either" killed TERM --hard-links

# ---- reflinks

none() {
    make_all
    expect 0 "the file system cannot (no reflinks)" store reclaim lms llama &&
        grep -q -- "--hard-links makes equal files one file" out && whole &&
        [ -z "$(find . -name '.*.tmp')" ]
}
cp big probe
if cp --reflink=always probe probe2 2>/dev/null; then
    skip "without reflinks nothing is done" "this file system has them"
else
    check "without reflinks nothing is done" none
fi
rm -f probe probe2

used() {
    sync
    df -k --output=used "$1" | tail -n 1
}
reflinks() {
    cd mounted || return
    big
    touch -d 2001-02-03 many/b.gguf
    chmod 640 many/b.gguf
    before=$(used .) kept=$(stat -c '%a %u %g %Y %s' many/b.gguf)
    expect 0 "3 files, 24,000,000 bytes reclaimed" store reclaim many || return
    [ "$kept" = "$(stat -c '%a %u %g %Y %s' many/b.gguf)" ] || return
    [ $((before - $(used .))) -gt 20000 ] || return
    for name in a b c d; do
        cmp ../big "many/$name.gguf" || return
    done
    expect 0 "shares its data already" store duplicates many &&
        grep -q " 0 bytes could be saved" "$dir/out" || return
    expect 0 "0 files, 0 bytes reclaimed" store reclaim many || return
    printf x | dd of=many/b.gguf bs=1 conv=notrunc 2>/dev/null
    cmp ../big many/a.gguf || return
    killed KILL
}
trap 'umount "$dir/mounted" 2>/dev/null; rm -rf "$dir"' EXIT
PATH=$PATH:/usr/sbin:/sbin
mkdir mounted
for kind in btrfs xfs; do
    truncate -s 400M image
    if [ "$(id -u)" != 0 ] || ! command -v mkfs.$kind >/dev/null 2>&1; then
        skip "files share data on $kind" "needs root and mkfs.$kind"
    elif ! mkfs.$kind image >mkfs.log 2>&1 || ! mount -o loop image mounted; then
        skip "files share data on $kind" "it cannot be mounted here"
    else
        # check runs it in a shell of its own
        check "files share data on $kind, also after 30 kills" reflinks
        umount mounted
    fi
    rm -f image
done

# ---- names of Ollama

make_all
export OLLAMA_MODELS="$dir/ol"
named() {
    expect 0 "Tiny Llama" info ollama:tiny &&
        expect 0 "Tiny Llama" info ollama:tiny:latest &&
        expect 0 "Tiny Llama" ollama:hf.co/me/tiny-GGUF:Q8_0 &&
        expect 0 "gguf" detect ollama:tiny &&
        expect 0 "are the same" diff ollama:tiny "$model" &&
        expect 0 "" validate ollama:tiny "$model" &&
        expect 0 "" dequantize ollama:tiny copy.gguf &&
        expect 0 "  ollama:tiny" hash ollama:tiny
}
check "ollama:NAME is a file wherever one is read" named
completed() {
    [ "$("$modelfile" complete -- info ollama:h 2>/dev/null | grep '^ollama' |
        tr -d '\t')" = "ollama:hf.co/me/tiny-GGUF:Q8_0" ]
}
check "names are completed" completed
check "a name that is missing" expect 3 \
    "$dir/ol/manifests/registry.ollama.ai/library/none/latest" info ollama:none
gone() {
    rm "ol/blobs/sha256-$digest"
    expect 3 "$dir/ol/blobs/sha256-$digest" info ollama:tiny
    found=$?
    make_all
    return $found
}
check "a blob that is missing" gone
check "names cannot leave the folder" expect 3 "ollama:../../x" info ollama:../../x
check "a model of Ollama cannot be edited" expect 2 \
    "cannot edit a model of Ollama" meta set ollama:tiny general.name=x
here() {
    cp "$model" "ollama:tiny" && rm -rf ol &&
        expect 0 "Tiny Llama" info ollama:tiny
}
check "a file of that very name comes first" here

finish
