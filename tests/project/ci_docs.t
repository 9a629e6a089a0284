#!/bin/sh
# SPDX-License-Identifier: MIT
#
# ci_docs.t - the shell lines of docs/ci.md do what the page says
#
# They run in a scratch folder with a good and a bad model, one example after
# the other, on a clone of this tree.  What would change this machine is
# replaced: apt-get installs nothing, sudo changes no user, make install goes
# below DESTDIR.  The first clone is built, the others are copies of it.
# hook.t has the pre-receive hook, action.t the scripts of the action.
set -u
# shellcheck disable=SC1091,SC2016,SC2317 # tests run in the top folder, give
#     their functions to others to call, and write scripts
. tests/tap.sh
. tests/lib-run.sh

if ! command -v git >/dev/null 2>&1 || ! git rev-parse --git-dir >/dev/null 2>&1; then
    skip "docs/ci.md" "git is not installed, or this is not a clone"
    finish
fi

page=$PWD/docs/ci.md
judge=$PWD/tests/cli/codequality.mjs

# ---- the tree as a repository, and what is replaced

HOME=$dir GIT_CONFIG_NOSYSTEM=1
GIT_AUTHOR_NAME=tester GIT_AUTHOR_EMAIL=tester@example.org
GIT_COMMITTER_NAME=tester GIT_COMMITTER_EMAIL=tester@example.org
# A reader has no settings of the make that may run this test.
unset BUILD OUT SAN DEBUG WITHOUT MAKEFLAGS MFLAGS MAKELEVEL
# A third of the work, and the program is as right.
CFLAGS=-O0 PORTABLE=1
export CFLAGS PORTABLE
mkdir "$dir/bin" "$dir/source"
git ls-files -z --cached --others --exclude-standard |
    xargs -0 sh -c 'for file; do [ ! -f "$file" ] || echo "$file"; done' - |
    tar -cf - -T - | tar -xf - -C "$dir/source"
export HOME GIT_CONFIG_NOSYSTEM GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL \
    GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
git init -q "$dir/source" && git -C "$dir/source" add -A &&
    git -C "$dir/source" commit -q -m "all of it"
MODELFILE_SOURCE=file://$dir/source
export MODELFILE_SOURCE

# stub NAME: standard input becomes that program.
stub() {
    { echo '#!/bin/sh'; cat; } >"$dir/bin/$1" && chmod +x "$dir/bin/$1"
}
echo "echo \"\$*\" >>'$dir/apt'" | stub apt-get
echo 'exec "$@"' | stub sudo
echo : | stub ldconfig
stub git <<END
for last; do :; done
[ "\$1" != clone ] || [ ! -d '$dir/built' ] || exec cp -a '$dir/built' "\$last"
exec $(command -v git) "\$@"
END
LDCONFIG=$dir/bin/ldconfig
PATH=$dir/bin:$dir/root/usr/local/bin:$PATH
export LDCONFIG PATH

# ---- what the page has

# block HEADING LANGUAGE: the first one of that language below the heading.
block() {
    awk -v heading="$1" -v begin="\`\`\`$2" '
        $0 ~ /^#/ && $0 !~ /^#!/ && !inside { here = $0 == heading }
        inside && /^```$/ { exit }
        inside
        here && $0 == begin { inside = 1 }' "$page"
}

# The shell lines of a workflow, of a job of GitLab or of a pipeline.
shell_lines() {
    awk '{ match($0, /^ */); depth = RLENGTH }
        inside && depth <= inside { inside = 0; quoted = 0 }
        /^ *sh \047\047\047$/ { quoted = 1; next }
        /^ *\047\047\047$/ { quoted = 0 }
        /^ *- run: \|$/ { inside = depth + 2; next }
        /^ *- run: / { sub(/^ *- run: /, ""); print; next }
        /^ *(before_)?script:$/ { inside = depth + 1; items = 1; next }
        !inside && !quoted { items = 0; next }
        items { sub(/^ *- /, "") }
        { sub(/^ */, ""); print }'
}

# An empty project.
project() {
    rm -rf "$dir/project" && mkdir -p "$dir/project/models" &&
        cd "$dir/project" && cp "$fixtures/good-llama.gguf" models/good.gguf &&
        cp "$fixtures/bad-overlap.gguf" models/bad.gguf
}

# runs CODE DESTDIR: the shell lines in $dir/lines, in a new project.
runs() {
    runs_code=0
    project || return
    [ "$(wc -l <../lines)" -ge 2 ] || { echo "no lines" && return 1; }
    DESTDIR=$2 sh -e ../lines >../said 2>&1 </dev/null || runs_code=$?
    [ "$runs_code" = "$1" ] && return
    echo "exit code $runs_code, not $1"
    cat ../lines
    tail -n 30 ../said
    return 1
}

# ---- examples

installing() {
    block "## Installing" sh >"$dir/lines" && runs 0 "$dir/root" &&
        grep -q "^modelfile $(sed -n 's/^#define MF_VERSION_STRING "\(.*\)"/\1/p' \
            .modelfile/lib/modelfile.h)" ../said &&
        grep -q "^install .* git make" ../apt &&
        mv .modelfile ../built
}
check "Installing: a clone is built and installed" installing
if [ ! -d "$dir/built" ]; then
    finish
fi

by_hand() {
    block "### By hand" yaml | shell_lines >"$dir/lines" && runs 1 "$dir/root" &&
        grep -q "^models/bad.gguf: error TENSOR-OVERLAP" ../said &&
        grep -q '"ruleId":"TENSOR-OVERLAP"' models.sarif &&
        block "### By hand" yaml | grep -q "sarif_file: models.sarif$"
}
check "GitHub by hand: findings are in the log and in SARIF" by_hand

# Without the service, what the action is given, and where it is.
used() {
    block "### The action" yaml >"$dir/workflow" || return
    used_path=$(sed -n 's|^ *uses: OWNER/modelfile/\(.*\)@TAG$|\1|p' "$dir/workflow")
    [ -f "$dir/built/$used_path/action.yml" ] || return
    sed -n '/OWNER\/modelfile/,/- uses:/p' "$dir/workflow" |
        sed -n 's/^          \([a-z-]*\): .*/\1/p' >"$dir/given"
    [ "$(wc -l <"$dir/given")" -ge 2 ] || return
    while read -r name; do
        grep -q "^  $name:$" "$dir/built/$used_path/action.yml" || return
    done <"$dir/given"
}
check "GitHub's action has the inputs that the example gives" used

# Up to what is built already, which a link makes that of the action.
action_builds() {
    mkdir "$dir/temp" && ln -s "$dir/built/build" "$dir/temp/modelfile-build" &&
        RUNNER_TEMP=$dir/temp GITHUB_OUTPUT=$dir/output \
            sh "$dir/built/.github/actions/validate/build.sh" >"$dir/said" 2>&1 ||
        { cat "$dir/said" && return 1; }
    program=$(sed -n 's/^program=//p' "$dir/output")
    [ "$program" = "$dir/temp/modelfile-build/modelfile" ] &&
        "$program" version >"$dir/said" 2>&1 && ! grep -q '^  CC ' "$dir/said"
}
check "and builds from its own checkout" action_builds

gitlab() {
    block "## GitLab" yaml >"$dir/job"
    shell_lines <"$dir/job" >"$dir/lines" && runs 1 "$dir/root" || return
    sed -n 's/^ *\(junit\|codequality\): //p' "$dir/job" >../reports
    [ "$(wc -l <../reports)" = 2 ] || return
    while read -r report; do
        [ -s "$report" ] || return
    done <../reports
    grep -q 'classname="models/bad.gguf" name="TENSOR-OVERLAP' models.xml &&
        grep -q '"path":"models/bad.gguf"' models.json || return
    ! command -v node >/dev/null 2>&1 || node "$judge" models.json
}
check "GitLab: both reports are where the job says" gitlab

jenkins() {
    block "## Jenkins, or any shell" groovy >"$dir/pipeline"
    shell_lines <"$dir/pipeline" >"$dir/lines" && runs 1 "" && [ -x .local/bin/modelfile ] &&
        grep -q '<failure' "$(sed -n "s/^ *junit '\(.*\)'/\1/p" ../pipeline)"
}
check "Jenkins: neither root nor PATH is needed" jenkins

baseline() {
    block "## Known findings" "" >"$dir/baseline" && project || return
    sed -n 1p "$dir/baseline" | sh -e && return 1
    sed 1d "$dir/baseline" | sh -e || return
    sed -n '/^# models.conf$/,/^```$/p' "$page" | sed '$d' >models.conf
    modelfile validate --config models.conf models/ >said
    [ $? = 1 ] && grep -q "1 ignored" said
}
check "a baseline accepts what is known, and models.conf is read" baseline

# ---- pre-commit

# The hook in a repository of models, as the page has it.
hooked() {
    project && rm models/bad.gguf && git init -q . || return
    block "## pre-commit" yaml |
        sed "s|^\( *- repo: \).*|\1$MODELFILE_SOURCE|
            s|TAG|$(git -C "$dir/source" rev-parse HEAD)|" >.pre-commit-config.yaml
    cp models/good.gguf ./-x.gguf && cp models/good.gguf 'models/a b.gguf' &&
        git add -A && block "## pre-commit" sh | sh -e >../said 2>&1 &&
        grep -q "whole\.*Passed" ../said && git commit -q -m good >../said 2>&1 && return
    cat ../said
    return 1
}
# caught FILE: a damaged model of that name is not committed.
caught() {
    cp "$fixtures/bad-overlap.gguf" "./$1" && git add -A || return
    if git commit -q -m bad >../said 2>&1; then
        return 1
    fi
    grep -q "whole\.*Failed" ../said && grep -qF -e "$1: error TENSOR-OVERLAP" ../said &&
        grep -q "exit code: 1" ../said && git reset -q --hard && return
    cat ../said
    return 1
}
stricter() {
    sed -i 's/^\( *\)- id:.*/&\n\1  args: [--strict, --data, --]/' \
        .pre-commit-config.yaml && git commit -q -a -m strict >../said 2>&1 &&
        cp "$fixtures/bad-data-zero.gguf" zero.gguf && git add -A || return
    git commit -q -m zero >../said 2>&1 && return 1
    grep -q "zero.gguf: error DATA-ZERO" ../said
}
if command -v pre-commit >/dev/null 2>&1; then
    PRE_COMMIT_HOME=$dir/pre-commit
    export PRE_COMMIT_HOME
    check "pre-commit lets a good model through" hooked
    cd "$dir/project" || exit 1
    check "and no bad one" caught models/bad.gguf
    check "nor one with a name like an option" caught -bad.gguf
    check "with args it has more options" stricter
else
    skip "the hook of pre-commit" "pre-commit is not installed"
fi
finish
