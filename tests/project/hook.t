#!/bin/sh
# SPDX-License-Identifier: MIT
#
# hook.t - the pre-receive hook of docs/ci.md, with names that mean harm
#
# shellcheck disable=SC1091,SC2016,SC2317 # tests run in the top folder, give
#     their functions to others to call, and names that look like commands
set -u
. tests/tap.sh
. tests/lib-run.sh

if ! command -v git >/dev/null 2>&1; then
    skip "the pre-receive hook" "git is not installed"
    finish
fi

good=$PWD/fixtures/good-base.gguf
bad=$PWD/fixtures/bad-overlap.gguf
PATH=$(cd "$(dirname "$modelfile")" && pwd):$PATH
export PATH
# The settings of the user who runs the test do not matter.
HOME=$dir GIT_CONFIG_NOSYSTEM=1
export HOME GIT_CONFIG_NOSYSTEM
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

git init -q --bare "$dir/bare.git"
awk '/^## pre-receive/ { here = 1 }
    here && /^```$/ { exit }
    shown { print }
    here && /^```sh$/ { shown = 1 }' docs/ci.md \
    >"$dir/bare.git/hooks/pre-receive"
chmod +x "$dir/bare.git/hooks/pre-receive"
git init -q "$dir/work"
cd "$dir/work" || exit 1
git config user.name tester
git config user.email tester@example.org
git remote add origin "$dir/bare.git"

# push NAME: commits all that is there and pushes it to a branch of that name.
push() {
    git add -A && git commit -q -m "$1" &&
        git push -q origin "HEAD:refs/heads/$1" >"$dir/said" 2>&1
}

# refused NAME: the push is refused, and no commit arrives; then the work
# tree is as it was.
refused() {
    code=0
    push "$1" || code=$?
    git reset -q --hard HEAD~1
    [ "$code" != 0 ] && grep -q "pre-receive hook declined" "$dir/said" &&
        grep -q "error TENSOR-OVERLAP" "$dir/said" &&
        ! git ls-remote --exit-code origin "refs/heads/$1" >/dev/null &&
        return
    cat "$dir/said"
    return 1
}

first() {
    cp "$good" model.gguf && ln -s model.gguf link.gguf && echo a >text.md &&
        push main
}
check "a good model is let through" first

damaged() {
    cp "$bad" model.gguf
    refused main-2 && grep -q "model.gguf is refused:" "$dir/said"
}
check "a damaged one is refused" damaged

link_turned_file() {
    rm link.gguf && cp "$bad" link.gguf
    refused type
}
check "also where it was a symbolic link before" link_turned_file

# name_refused NAME: a damaged model of that name.
name_refused() {
    mkdir -p "$(dirname "./$1")" && cp "$bad" "./$1" && refused name
}
new_line='model
with a line.gguf'
check "also under a name of two lines" name_refused "$new_line"
check "next to a good one that has its last line as a name" sh -c \
    'cp "$1" "with a line.gguf"' - "$good"
check "which is not looked at instead" name_refused "$new_line"
check "also under a name with a quote" name_refused 'a"b.gguf'
check "also under a name in other letters" name_refused 'größe.gguf'
check "also under a name with blanks" name_refused ' a b  .gguf'
check "also under a name that looks like an option" name_refused '-x.gguf'
check "also in a folder" name_refused 'a folder/b$(touch DONE).gguf'

harmless() {
    for name in 'touch DONE|e;s|a|b.gguf' 'a|b.gguf' '$(touch DONE).gguf' \
        '`touch DONE`.gguf' ';touch DONE;.gguf' '&.gguf' '%s%n.gguf' '\n.gguf' \
        '-.gguf'; do
        cp "$good" "./$name" || return 1
    done
    push harmless || { cat "$dir/said"; return 1; }
    find "$dir" -name DONE | grep . && return 1
    for name in 'touch DONE|e;s|a|b.gguf' '$(touch DONE).gguf' \
        '`touch DONE`.gguf'; do
        cp "$bad" "./$name" || return 1
    done
    refused harm && ! find "$dir" -name DONE | grep .
}
check "names never run, and no name keeps a good model out" harmless

no_control_byte() {
    cp "$bad" "$(printf 'a\033[31mb.gguf')" && refused control &&
        ! LC_ALL=C grep -qaP '[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]' \
            "$dir/said" && ! grep -q "$(printf '\033')\[31m" "$dir/said"
}
check "no control byte of a name reaches the one who pushes" no_control_byte

deleted() {
    git rm -q model.gguf && push gone && git push -q origin :gone
}
check "what goes away is not looked at" deleted

finish
