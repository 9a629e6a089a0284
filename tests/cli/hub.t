#!/bin/sh
# SPDX-License-Identifier: MIT
#
# hub.t - models of the Hub, its cache, and lists of files that are hostile
#
# All of it happens on 127.0.0.1: tests/remote/hub.py answers as the Hub does.
# HUB_PYTHON names a Python with huggingface_hub, if python3 has none: what that
# downloads from it is compared with what the program reads.
#
# shellcheck disable=SC1091,SC2317,SC2046,SC2086 # tests run in the top folder,
#         and give their functions to others to call; no name has a space
set -u
. tests/tap.sh
. tests/lib-run.sh

unset HF_TOKEN HF_TOKEN_PATH HF_HUB_CACHE HUGGINGFACE_HUB_CACHE HF_HUB_OFFLINE
unset HF_ENDPOINT HUGGING_FACE_HUB_TOKEN HF_HUB_DISABLE_IMPLICIT_TOKEN
unset TRANSFORMERS_OFFLINE XDG_CACHE_HOME
HF_HOME=$dir/home
export HF_HOME

# ---- names

wrong_name() { # NAME TEXT
    expect 2 "$2" info "$1"
}
form="expected hf://OWNER/NAME"
for name in hf:// hf://x hf://x/ hf:///y hf://../y hf://a/.. hf://a/b--c \
    "hf://a b/c" hf://a/-b hf://a/b. "hf://a/b%41" "hf://a/b?x"; do
    check "a wrong name: $name" wrong_name "$name" "$form"
done
check "data sets are not read" wrong_name hf://datasets/a/b "only models"
for name in hf://a/b@ hf://a/b@.. hf://a/b@x%2F../y hf://a/b@%00 \
    hf://a/b@refs/pr/../c; do
    check "a wrong revision: $name" wrong_name "$name" "its revision is invalid"
done
for name in hf://a/b/../c hf://a/b//c hf://a/b/./c; do
    check "a wrong path: $name" wrong_name "$name" "its path is invalid"
done
bad_endpoint() {
    HF_ENDPOINT=nowhere expect 2 "HF_ENDPOINT is not a URL" info hf://a/b
}
check "an endpoint is a URL" bad_endpoint
bad_token() {
    HF_TOKEN="hf x" expect 2 "HF_TOKEN" info hf://a/b && ! grep -q "hf x" "$dir/out"
}
check "a token has no spaces" bad_token
check "meta set reads no model of the Hub" expect 2 "reads no URLs" \
    meta set hf://a/b general.name=other
check "nothing is written to the Hub" expect 2 "cannot be written to" \
    convert "$fixtures/good-llama.gguf" hf://a/b/model.gguf

offline() {
    HF_HUB_OFFLINE=1 "$@"
}
check "without the Hub and a cache" offline expect 3 "HF_HUB_OFFLINE is set" \
    info hf://a/b

. tests/lib-remote.sh

# ---- the Hub

repos=$dir/repos
local=$dir/local
mkdir -p "$repos/own/toy/main" "$repos/own/shards/main" \
    "$repos/own/files/main" "$repos/own/files/v1" \
    "$repos/own/files/refs%2Fpr%2F1" "$repos/own/below/main/Q8" \
    "$repos/own/below/main/F16" "$repos/own/none/main" \
    "$repos/own/checkpoint/main" "$repos/own/big/main" \
    "$repos/own/two/main" "$local"
cp "$fixtures"/good-hf-llama/* "$repos/own/toy/main"
cp "$fixtures"/good-hf-llama/*.json "$repos/own/shards/main"
"$modelfile" split --quiet "$fixtures/good-hf-llama" \
    "$repos/own/shards/main/model" --max-tensors 5 >"$dir/out" 2>&1
cp "$fixtures/good-llama.gguf" "$repos/own/files/main/a.gguf"
cp "$fixtures/good-many-tensors.gguf" "$repos/own/files/main/b.gguf"
cp "$fixtures/good-moe.gguf" "$repos/own/files/main/c d%41.gguf"
cp "$fixtures/good-moe.gguf" "$repos/own/files/v1/a.gguf"
cp "$fixtures/good-fused.gguf" "$repos/own/files/refs%2Fpr%2F1/a.gguf"
"$modelfile" split --quiet "$fixtures/good-llama.gguf" \
    "$repos/own/below/main/Q8/part" --max-tensors 10 >>"$dir/out" 2>&1
cp "$fixtures/good-moe.gguf" "$repos/own/below/main/F16/moe.gguf"
echo text >"$repos/own/below/main/README.md"
echo text >"$repos/own/none/main/README.md"
cp "$fixtures/good-torch.pt" "$repos/own/checkpoint/main/pytorch_model.bin"
python3 tests/remote/models.py "$repos/own/big/main/model.safetensors" "$dir/vocab.gguf" \
    "$repos/own/two/main/model.safetensors"
for owner in gated private readless; do
    mkdir -p "$repos/$owner/toy"
    cp -r "$repos/own/toy/main" "$repos/$owner/toy"
done
for name in toy shards; do
    cp -r "$repos/own/$name/main" "$local/$name"
done

start_server tests/remote/hub.py "$repos" "$log"
read -r port data_port <"$dir/port"
HF_ENDPOINT=http://127.0.0.1:$port
export HF_ENDPOINT

# ---- the same answers as from the folder

here=$local there=hf://own
for name in toy shards; do
    check "tensors of $name" same tensors @$name
    check "meta list of $name" same meta list @$name
    check "plan of $name" same plan @$name
    check "convert $name" same_file "$dir/x.gguf" convert @$name "$dir/x.gguf" --force
    check "quantize $name" same_file "$dir/x.gguf" quantize @$name "$dir/x.gguf" \
        Q8_0 --force
    check "convert $name to safetensors" same_file "$dir/x.safetensors" convert \
        @$name "$dir/x.safetensors" --force
    for file in "$local/$name"/model*; do
        file=${file##*/}
        check "info of $name/$file" same info --json "@$name/$file"
        check "validate --data of $name/$file" same validate --data "@$name/$file"
        check "hash of $name/$file" same hash "@$name/$file"
    done
done
answers() { # TEXT COMMAND...
    text=$1
    shift
    expect 0 "$text" "$@"
}
check "a folder" answers "bf16" info hf://own/toy
check "its page" answers "bf16" info "$HF_ENDPOINT/own/toy"
check "and with a slash" answers "bf16" info "$HF_ENDPOINT/own/toy/"
check "its page with a revision" answers "bf16" info "$HF_ENDPOINT/own/toy/tree/main?x#y"
check "the page of a file" answers "Tiny Llama" info "$HF_ENDPOINT/own/files/blob/main/a.gguf"
check "the page of a folder" answers "Tiny Llama" info "$HF_ENDPOINT/own/below/tree/main/Q8"
check "models/ in front" answers "bf16" info hf://models/own/toy
check "a file" answers "Tiny Llama" info hf://own/files/a.gguf
check "a file with a space and %" answers "qwen3moe" info "hf://own/files/c d%41.gguf"
check "a tag" answers "qwen3moe" info hf://own/files@v1/a.gguf
check "a pull request" answers "phi3" info hf://own/files@refs/pr/1/a.gguf
check "with %2F" answers "phi3" info hf://own/files@refs%2Fpr%2F1/a.gguf
check "the only model of a revision" answers "qwen3moe" info hf://own/files@v1
check "a folder below" answers "qwen3moe" info hf://own/below/F16
check "shards in it" answers "output.weight" tensors hf://own/below/Q8
check "a checkpoint of PyTorch" answers "torch" info hf://own/checkpoint
check "two models" answers "" diff hf://own/files/a.gguf hf://own/files/a.gguf
commit=$("$modelfile" info --json hf://own/files/a.gguf 2>/dev/null |
    sed -n 's/.*"commit":"\([0-9a-f]*\)".*/\1/p')
check "--json has the commit" [ ${#commit} = 40 ]
check "a commit" answers "Tiny Llama" info "hf://own/files@$commit/a.gguf"
check "convert --remote" same_file "$dir/x.gguf" convert @toy "$dir/x.gguf" --force
remote_option() {
    "$modelfile" convert --quiet --remote own/toy "$dir/r.gguf" >/dev/null &&
        "$modelfile" convert --quiet "$local/toy" "$dir/l.gguf" >/dev/null &&
        cmp "$dir/r.gguf" "$dir/l.gguf"
}
check "convert --remote OWNER/NAME" remote_option
check "without OUT" expect 2 "missing argument OUT" convert --remote own/toy
echo hf://own/files/a.gguf >"$dir/list"
check "a list" answers "Tiny Llama" info --files-from "$dir/list"

# ---- how much is asked for

requests() { # PATTERN COUNT
    found=$(grep -c "$1" "$log")
    [ "$found" = "$2" ] && return
    echo "$found requests like $1"
    cat "$log"
    return 1
}
counts() {
    : >"$log"
    "$modelfile" info hf://own/toy --quiet >/dev/null || return
    requests '^hub GET /api/models/own/toy/revision/main ' 1 &&
        requests '^hub GET /api/models/own/toy/tree/[0-9a-f]*?' 2 &&
        requests '^hub .*/resolve/[0-9a-f]\{40\}/model.safetensors' 1 &&
        requests '^data' 1 && requests 'resolve/main' 0
}
check "one question for the commit, two pages of the list, files by commit" counts
missing_are_known() {
    : >"$log"
    "$modelfile" hash hf://own/toy/model.safetensors --quiet >/dev/null &&
        requests 'resolve/.*chat_template.jinja' 0 &&
        requests 'resolve/.*tokenizer.json' 1
}
check "no question for a file that is not in the list" missing_are_known

# ---- tokens

sends() { # TOKEN COUNT NAME
    : >"$log"
    "$modelfile" info "$3" --quiet >"$dir/out" 2>&1
    requests "^hub .* $1\$" "$2" && requests "^data .* -\$" 1 &&
        ! grep -q "$1" "$dir/out"
}
with_token() { # TOKEN COMMAND...
    HF_TOKEN=$1
    export HF_TOKEN
    shift
    "$@"
    with_token_code=$?
    unset HF_TOKEN
    return $with_token_code
}
check "the token goes to the Hub, and not along the redirect" \
    with_token hf_good sends hf_good 5 hf://own/toy
mkdir -p "$dir/home"
echo " hf_good" >"$dir/home/token"
check "a token of the file in HF_HOME" sends hf_good 5 hf://gated/toy
with_path() {
    echo hf_stranger >"$dir/token"
    HF_TOKEN_PATH=$dir/token sends hf_stranger 5 hf://own/toy
}
check "a token of HF_TOKEN_PATH" with_path
implicit() {
    HF_HUB_DISABLE_IMPLICIT_TOKEN=1 sends hf_good 0 hf://own/toy
}
check "none with HF_HUB_DISABLE_IMPLICIT_TOKEN" implicit
rm "$dir/home/token"
plain_url() {
    : >"$log"
    "$modelfile" info "$HF_ENDPOINT/own/files/resolve/main/a.gguf" --quiet >/dev/null &&
        requests "hf_good" 0
}
check "a plain URL gets no token" with_token hf_good plain_url
recorded() {
    rm -rf "$dir/record"
    "$modelfile" info --json --record "$dir/record" --timings hf://gated/toy \
        >"$dir/out" 2>"$dir/err" && ! grep -r hf_good "$dir/record" "$dir/out" "$dir/err"
}
check "it is in no record, answer or line" with_token hf_good recorded

# ---- who may read

refused() { # NAME TEXT
    rm -f "$dir/x.gguf"
    expect 3 "$2" convert "$1" "$dir/x.gguf" && [ ! -e "$dir/x.gguf" ] &&
        ! grep -q hf_ "$dir/out"
}
check "gated, without a token" refused hf://gated/toy "is gated: ask for access"
check "gated, with a token" with_token hf_stranger refused hf://gated/toy \
    "the account of the token has no access"
check "gated, with access" with_token hf_good answers bf16 info hf://gated/toy
check "private, without a token" refused hf://private/toy "if it is private, set HF_TOKEN"
check "private, with another's token" with_token hf_stranger refused hf://private/toy \
    "or none that the token may read"
check "private, with access" with_token hf_good answers bf16 info hf://private/toy
check "private, with a token that may not read" with_token hf_good refused \
    hf://readless/toy "the repository is private"
check "missing, without a token" refused hf://own/nothing "no public repository"
check "missing, with a token" with_token hf_good refused hf://own/nothing \
    "no such repository"
check "a token that the Hub does not know" with_token hf_bad refused hf://own/toy \
    "does not accept the token"
check "a missing revision" refused hf://own/toy@v9 "no such revision"
check "a missing commit" refused \
    hf://own/toy@0123456789012345678901234567890123456789 "no such revision"
check "a missing file" refused hf://own/toy/none.gguf "no such file"
check "a missing folder" refused hf://own/toy/none "no such file"
check "no model" refused hf://own/none "no model in this folder"
several() { # NAME TEXT
    code=0
    "$modelfile" info "$1" >"$dir/out" 2>&1 || code=$?
    cat "$dir/out"
    grep -q "$2" "$dir/out" && [ $code != 0 ]
}
check "several models are listed" several hf://own/files "'a.gguf', 'b.gguf'"
check "those of folders, too" several hf://own/below \
    "'F16/moe.gguf', 'Q8/part-00001-of-00003.gguf'"

# ---- lists that are wrong

mkdir -p "$repos/hostile"
hostile() { # KIND TEXT
    mkdir -p "$repos/hostile/$1"
    [ -e "$repos/hostile/$1/main" ] ||
        cp -r "$repos/own/toy/main" "$repos/hostile/$1/main"
    refused "hf://hostile/$1" "$2"
}
for kind in dots dots-inside absolute nul control line empty-part no-name; do
    check "a name: $kind" hostile $kind "list of files is invalid: path"
done
for kind in long long-path; do
    check "a name: $kind" hostile $kind "no type, path or size"
done
check "a path that is a number" hostile path-number "invalid: path '7'"
for kind in size-text size-negative size-fraction size-huge; do
    check "a size: $kind" hostile $kind "invalid: size"
done
check "a size that is a bool" hostile size-true "no type, path or size"
check "a type that is a number" hostile type-number "invalid: type"
for kind in digest-short digest-upper; do
    check "a digest: $kind" hostile $kind "invalid: lfs.oid"
done
check "two sizes" hostile sizes "sizes of"
check "a size that the file does not have" hostile wrong-size "its size is not"
check "a name that comes twice" hostile twice "twice"
check "a member that comes twice" hostile twice-inside "invalid: path"
for kind in million short-million huge; do
    check "$kind" hostile $kind "more than 4 MiB"
done
for kind in deep deep-whole nothing garbage cut more not-utf8; do
    check "JSON: $kind" hostile $kind "list of files is invalid"
done
for kind in object numbers texts scalar; do
    check "$kind" hostile $kind "not a list of objects"
done
check "an empty list" hostile empty "no model in this folder"
check "no commit" hostile no-commit "names no commit"
for kind in link-host link-port link-path link-scheme link-file; do
    check "a next page elsewhere: $kind" hostile $kind "another address"
done
for kind in link-long link-open; do
    check "a Link: $kind" hostile $kind "Link is invalid"
done
check "pages without an end" hostile circle "more than 200 pages"

# ---- SHA-256

mkdir -p "$repos/hostile/wrong-digest" "$repos/hostile/other-bytes"
for kind in wrong-digest other-bytes; do
    cp -r "$repos/own/toy/main" "$repos/hostile/$kind/main"
done
differs() {
    expect 3 "its SHA-256 is not the one that the Hub lists" "$@"
}
for kind in wrong-digest other-bytes; do
    check "validate --data: $kind" differs validate --data hf://hostile/$kind
    check "hash: $kind" differs hash hf://hostile/$kind
    check "with threads" differs hash --threads 4 hf://hostile/$kind
    check "and validate" differs validate --data --threads 4 hf://hostile/$kind
done
checked() { # COUNT UNCHECKED COMMAND...
    checked_count=$1 unchecked_count=$2
    shift 2
    "$modelfile" --json "$@" >"$dir/out" 2>"$dir/err"
    grep -q "\"files_checked\":$checked_count,\"files_unchecked\":$unchecked_count" \
        "$dir/out" && return
    grep -o '"remote":.*' "$dir/out"
    return 1
}
shards=$(ls "$local/shards" | grep -c 'safetensors$')
check "validate --data checks a file" checked 1 0 validate --data hf://own/toy
check "hash" checked 1 0 hash hf://own/toy
check "all shards" checked "$shards" 0 validate --data hf://own/shards
check "by hash" checked "$shards" 0 hash hf://own/shards
check "with threads, too" checked "$shards" 0 hash --threads 4 hf://own/shards
check "info does not" checked 0 1 info hf://own/big
for name in a b; do
    check "GGUF $name" checked 1 0 validate --data hf://own/files/$name.gguf
    check "GGUF $name by hash" checked 1 0 hash hf://own/files/$name.gguf
done
once() { # NAME COMMAND...
    name=$1
    shift
    size=$(wc -c <"$repos/own/$name/main/model.safetensors")
    checked 1 0 "$@" "hf://own/$name" || return
    fetched=$(sed -n 's/.*"remote":.*"bytes":\([0-9]*\),"retries.*/\1/p' "$dir/out")
    [ "$fetched" -lt $((size + 2000)) ] && return
    echo "$fetched of $size bytes"
    return 1
}
for name in big two; do
    check "hash of $name in the same pass" once $name hash
    check "hash --algo sha256, too" once $name hash --algo sha256
    check "validate --data of $name in the same pass" once $name validate --data
    check "whatever --threads says" once $name hash --threads 4
done

# A header that was read in part keeps its connection, and there are six.
eight_models() {
    set --
    for number in 1 2 3 4 5 6 7 8; do
        mkdir -p "$repos/own/vocab$number/main" &&
            cp "$dir/vocab.gguf" "$repos/own/vocab$number/main/model.gguf" || return
        set -- "$@" "hf://own/vocab$number"
    done
    ends 0 info "$@" && [ "$(grep -c '^  format  *gguf' "$dir/out")" = 8 ]
}
check "more models than connections" eight_models

# ---- the two processes, and memory

# The first process of a trace is the parser: it connects to nothing, and the
# other one opens neither the token's file nor the cache.
keeps_out() {
    mkdir -p "$dir/home/hub" && echo hf_good >"$dir/home/token" || return
    strace -f -qq -o "$dir/trace" "$modelfile" info hf://gated/toy >/dev/null 2>&1
    rm "$dir/home/token"
    awk -v home="$dir/home" '
        NR == 1 { parser = $1 }
        / execve\(/ && NR > 1 { print "runs a program: " $0; bad = 1 }
        $1 == parser && / (socket|connect|sendto|recvfrom|sendmsg)\(/ {
            print "the parser connects: " $0
            bad = 1
        }
        $1 != parser && index($0, home) { print "the helper looks: " $0; bad = 1 }
        $1 == parser && /home\/token/ { token = 1 }
        $1 != parser && / connect\(.*sin_port/ { connected++ }
        END {
            if (!connected || !token)
                print "not seen: " connected " connections, token " token
            exit bad || !connected || !token
        }' "$dir/trace"
}
if strace -qq -o "$dir/trace" true 2>/dev/null; then
    check "the parser connects to nothing, the helper sees no token or cache" keeps_out
else
    skip "the two processes" "strace does not work here"
fi

# Every limit is enough, or ends with 5.
limits() {
    failed=0
    for limit in 20K 60K 100K 300K 800K 2M 4200K 5M 9M 64M; do
        code=0
        "$modelfile" hash --quiet --max-memory $limit hf://own/big \
            >"$dir/out" 2>"$dir/err" || code=$?
        [ $code = 0 ] || [ $code = 5 ] || {
            echo "$limit: $code"
            cat "$dir/err"
            failed=1
        }
    done
    [ "$code" = 0 ] && return $failed
}
if counts_memory; then
    check "too little memory is exit code 5" limits
else
    skip "too little memory" "this build does not count it"
fi

# ---- the cache

export HF_HUB_CACHE="$dir/cache"
# cached REPOSITORY COMMIT FILE...: as huggingface_hub writes it.
cached() {
    place=$HF_HUB_CACHE/models--$(echo "$1" | sed 's|/|--|') of=$repos/$1/main
    cached_commit=$2
    mkdir -p "$place/refs" "$place/blobs" "$place/snapshots/$2" "$place/.no_exist/$2"
    shift 2
    for file; do
        blob=$(sha256sum "$of/$file" | cut -d' ' -f1)
        cp "$of/$file" "$place/blobs/$blob"
        ln -sf "../../blobs/$blob" "$place/snapshots/$cached_commit/$file"
    done
    printf %s "$cached_commit" >"$place/refs/main"
}
silent_log() { # COMMAND... without a request
    : >"$log"
    "$@" && [ ! -s "$log" ] && return
    cat "$log"
    return 1
}
commit_of() {
    HF_HUB_CACHE=$dir/none "$modelfile" info --json "$1" 2>/dev/null |
        sed -n 's/.*"commit":"\([0-9a-f]*\)".*/\1/p'
}
commit=$(commit_of hf://own/files/a.gguf)
cached own/files "$commit" a.gguf
check "a file in the cache takes no request" silent_log answers "Tiny Llama" \
    info hf://own/files/a.gguf
check "nor does its data" silent_log checked 1 0 validate --data hf://own/files/a.gguf
noted() {
    "$modelfile" info hf://own/files/a.gguf >/dev/null 2>"$dir/err"
    grep -q "'main' is commit $commit, as the cache has it since 20" "$dir/err"
}
check "a remark says which commit it is" noted
other() {
    : >"$log"
    answers "general.architecture" meta list hf://own/files/b.gguf &&
        requests 'revision' 0 && requests "resolve/$commit/b.gguf" 1
}
check "another file is fetched from that commit" other
check "offline, the files of the cache are the commit's" offline silent_log answers \
    "Tiny Llama" info hf://own/files
check "offline, a file that it lacks" offline refused hf://own/files/b.gguf "HF_HUB_OFFLINE is set"
check "offline, a revision that it lacks" offline refused hf://own/files@v1 \
    "does not have that revision"
toy=$(commit_of hf://own/toy)
cached own/toy "$toy" model.safetensors config.json tokenizer.json \
    tokenizer_config.json
check "offline, a folder becomes the same file" offline same_file "$dir/x.gguf" \
    convert @toy "$dir/x.gguf" --force
check "a folder whose files are there" same_file "$dir/x.gguf" convert @toy "$dir/x.gguf" --force
: >"$log"
"$modelfile" convert --quiet hf://own/toy "$dir/x.gguf" --force >/dev/null 2>&1
check "only its list is asked for" requests '^hub GET /api/models/own/toy/tree' 2
check "and no file of it" requests resolve 0
rm "$HF_HUB_CACHE/models--own--toy/snapshots/$toy/config.json"
: >"$HF_HUB_CACHE/models--own--toy/.no_exist/$toy/config.json"
no_config() {
    : >"$log"
    "$modelfile" validate hf://own/toy/model.safetensors >/dev/null 2>&1
    requests 'resolve/.*config.json' 0
}
check "what does not exist is not asked for" no_config
damaged() {
    cp "$fixtures/good-moe.gguf" "$HF_HUB_CACHE/models--own--files/blobs/$(sha256sum \
        "$fixtures/good-llama.gguf" | cut -d' ' -f1)"
    differs validate --data hf://own/files/a.gguf
}
check "a blob that is not what its name says" damaged
cached own/files "$commit" a.gguf
pipes() {
    mkfifo "$HF_HUB_CACHE/models--own--files/snapshots/$commit/p.gguf"
    mkfifo "$HF_HUB_CACHE/models--own--files/refs/v2"
    timeout 20 "$modelfile" info --quiet hf://own/files/p.gguf >/dev/null 2>&1
    [ $? = 3 ] || return
    timeout 20 "$modelfile" info --quiet hf://own/files@v2/a.gguf >/dev/null 2>&1
    [ $? = 3 ]
}
check "pipes in the cache are not waited for" pipes
rm "$HF_HUB_CACHE/models--own--files/snapshots/$commit/p.gguf" "$HF_HUB_CACHE/models--own--files/refs/v2"
for text in "../../x" "" short "$(printf '%0100d' 1)"; do
    bad_ref() {
        printf %s "$text" >"$HF_HUB_CACHE/models--own--files/refs/v2"
        offline refused hf://own/files@v2/a.gguf "does not have that revision"
    }
    check "a ref without a commit: $text" bad_ref
done

# ---- completion

offered() { # WORD NAME...
    word=$1
    shift
    "$modelfile" complete --quiet -- info "$word" >"$dir/out" 2>/dev/null
    for name; do
        grep -q "^$name	" "$dir/out" || {
            echo "$name is missing in:"
            cat "$dir/out"
            return 1
        }
    done
    [ "$(grep -c '^hf://' "$dir/out")" = $# ]
}
check "repositories are offered" offered hf:// hf://own/files hf://own/toy
check "those that go on with the word" offered hf://own/to hf://own/toy
check "files of one" offered hf://own/files/ hf://own/files/a.gguf
check "files of a revision" offered hf://own/files@main/a hf://own/files@main/a.gguf
check "without such a repository" offered hf://own/none/

# ---- huggingface_hub

python=python3
for candidate in "${HUB_PYTHON:-python3}" python3; do
    if "$candidate" -c 'import huggingface_hub' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if ! "$python" -c 'import huggingface_hub' 2>/dev/null; then
    skip "what huggingface_hub downloads" "HUB_PYTHON names no Python that has it"
    finish
fi
client() {
    HF_HOME=$dir/client HF_HUB_CACHE=$dir/client/hub HF_HUB_DISABLE_TELEMETRY=1 \
        HF_HUB_DISABLE_XET=1 "$python" tests/remote/hub_client.py "$@"
}
# Every file of a repository, byte by byte.
downloads() { # REPOSITORY TOKEN
    snapshot=$(HF_TOKEN=$2 client snapshot "$1") || return
    [ -d "$snapshot" ] || return
    for file in "$snapshot"/*; do
        cmp "$file" "$repos/$1/main/${file##*/}" || return
    done
    HF_TOKEN=$2 HF_HUB_CACHE=$dir/none "$modelfile" convert --quiet --force "hf://$1" \
        "$dir/a.gguf" >/dev/null || return
    ln -sfn "$snapshot" "$dir/${1##*/}"
    "$modelfile" convert --quiet --force "$dir/${1##*/}" "$dir/b.gguf" >/dev/null || return
    cmp "$dir/a.gguf" "$dir/b.gguf"
}
check "the client downloads what we read" downloads own/toy ""
check "shards" downloads own/shards ""
check "a gated repository" downloads gated/toy hf_good
# Their list of files, and of tensors.
lists() {
    client list own/below >"$dir/theirs" || return
    (cd "$repos/own/below/main" && find . -type f | sed 's|^\./||' |
        LC_ALL=C sort | while read -r file; do
        echo "$file $(wc -c <"$file") $(sha256sum "$file" | cut -d' ' -f1)"
    done) | diff - "$dir/theirs"
}
check "the client lists the files" lists
metadata() { # REPOSITORY
    client tensors "$1" >"$dir/theirs" || return
    "$modelfile" tensors info --json "hf://$1" 2>/dev/null |
        "$python" tests/remote/hub_client.py ours | diff "$dir/theirs" -
}
check "get_safetensors_metadata, one file" metadata own/toy
check "get_safetensors_metadata, shards" metadata own/shards
refuses() { # REPOSITORY TOKEN ERROR
    HF_TOKEN=$2 client refuses "$1" "$3"
}
check "the stand-in is gated as the client expects" refuses gated/toy "" GatedRepoError
check "missing" refuses own/nothing "" RepositoryNotFoundError
check "private" refuses private/toy hf_stranger RepositoryNotFoundError
check "a revision" refuses own/toy@v9 "" RevisionNotFoundError
their_cache() {
    kill "$server"
    export HF_HUB_CACHE="$dir/client/hub"
    offline same_file "$dir/x.gguf" convert @shards "$dir/x.gguf" --force &&
        offline checked "$shards" 0 hash hf://own/shards &&
        answers bf16 info hf://own/toy/model.safetensors --one-file
}
check "the cache that the client wrote, without the Hub" their_cache
trap 'rm -rf "$dir"' EXIT
finish
