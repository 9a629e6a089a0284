#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mutants_rows.sh - changes rows of lib/families, one at a time; lists what no
# test minds
#
#     MUTANTS=100 SEED=1 tests/mutants_rows.sh
#
# Types, optional marks, names, numbers, operators and more are changed
# (mutants_rows.awk), and rows removed.  SEED decides which ones.  What the
# compiler of rows refuses is found by the build; a change that gives the same tables
# does not count, and another one takes its place.  Tests of the section decide,
# the fastest first.  Settings:
#
#     SECTIONS="loader graph"  only these; unset: all
#     TESTS=                   the tests; unset: the section's
#     MUTANTS_SECONDS=3600     then the rest is left out
#
# All is done in a copy of the tree.  A line of the output is
#
#     survived: FILE:LINE: SECTION, WHAT: OLD -> NEW
set -u

number=${MUTANTS:-100}
seed=${SEED:-1}
seconds=${MUTANTS_SECONDS:-3600}
started=$(date +%s)
echo "seed $seed, $number changes of rows"
# shellcheck disable=SC1091 # it is run in the top folder
. tests/mutants_copy.sh
flags=-O2
tables="build/lib/arch/tables.c build/lib/plan/graphs.c build/lib/hub/families.c
    build/lib/hub/naming_rows.c build/lib/folder/converted.c"

# Those that take minutes, such as test_restore, are left out.
tests_of() { # SECTION
    case $1 in
    loader) echo build/tests/test_arch build/tests/test_loader_facts \
        build/tests/test_plan build/tests/test_plan_written \
        build/tests/test_plan_config build/tests/test_plan_graph \
        build/tests/test_judge tests/cli/plan_archs.t tests/cli/plan.t \
        tests/cli/differential.t tests/cli/validate.t ;;
    graph) echo build/tests/test_graph_facts build/tests/test_plan \
        build/tests/test_plan_graph build/tests/test_plan_sweep \
        tests/cli/plan_archs.t tests/cli/plan.t ;;
    *) echo build/tests/test_recipe build/tests/test_hub_keys \
        build/tests/test_hub_tensors build/tests/test_hub_back \
        build/tests/test_config_defaults \
        build/tests/test_family_facts build/tests/test_projector \
        build/tests/test_naming build/tests/test_restore_vocab \
        build/tests/test_compressed tests/cli/model_types.t \
        tests/cli/huggingface.t tests/cli/projector.t ;;
    esac
}

wants() { # TEST: scripts make models of the rows
    needs "$1"
    [ "$1" = "${1%.t}" ] || echo build/tests/make_arch
}

# ---- the tests, and how long they take

: >"$copy/times"
make_them all || die "$(tail "$copy/log")" # fixtures, too
for section in ${SECTIONS:-loader graph convert restore}; do
    for test in ${TESTS:-$(tests_of "$section")}; do
        [ -e "$test" ] || make_them "$test" || continue # not there yet
        [ -z "$(milliseconds_of "$test")" ] || continue
        # shellcheck disable=SC2046 # targets are words
        make_them $(wants "$test") ||
            die "$(tail "$copy/log")"
        before=$(now_in_ms)
        if run 120 "$test"; then
            echo "$(($(now_in_ms) - before)) $test" >>"$copy/times"
        else
            echo "left out: $test fails here, or takes more than 120 s"
            echo "- $test" >>"$copy/times"
        fi
    done
done
sort -n -o "$copy/times" "$copy/times"

timed_tests() { # SECTION: those that pass, the fastest first
    # shellcheck disable=SC2046 # words
    printf '%s\n' ${TESTS:-$(tests_of "$1")} |
        awk 'FNR == NR { asked[$1] = 1; next }
            $1 != "-" && $2 in asked { print $2 }' - "$copy/times"
}

# ---- the changes

# shellcheck disable=SC2046 # files are words
set -- $(git -C "$top" ls-files 'lib/families/*.txt')
LC_ALL=C awk -v seed="$seed" -v sections="${SECTIONS:-}" \
    -f tests/mutants_rows.awk "$@" "$@" >"$copy/changes"
[ -s "$copy/changes" ] || die "there is nothing to change"
mkdir "$copy/tables"
for table in $tables; do
    [ ! -f "$table" ] || cp "$table" "$copy/tables/$(echo "$table" | tr / _)"
done

same_tables() {
    for table in $tables; do
        [ ! -f "$table" ] ||
            cmp -s "$table" "$copy/tables/$(echo "$table" | tr / _)" || return 1
    done
}

# Says refused, same, survived, or found and by which test.
verdict() { # SECTION
    # shellcheck disable=SC2086 # targets are words
    if ! make_them build/rows-made $(ls $tables 2>/dev/null); then
        echo refused
        return
    fi
    if same_tables; then
        echo same
        return
    fi
    for test in $(timed_tests "$1"); do
        # shellcheck disable=SC2046 # targets are words
        if ! make_them $(wants "$test"); then
            echo refused
            return
        fi
        if ! run "$(($(milliseconds_of "$test") * 4 / 1000 + 20))" "$test"; then
            echo "found $test"
            return
        fi
        rm -rf "${copy:?}"/tmp/*
    done
    echo survived
}

old_row() { # FIRST LAST
    sed -n "$1,$2p" "$copy/kept" | sed 's/^ *//; s/\\$//' | tr -d '\n'
}

: >"$copy/verdicts"
while IFS=$tab read -r file first last section what new; do
    [ "$(wc -l <"$copy/verdicts")" -lt "$number" ] || break
    if [ "$(($(date +%s) - started))" -gt "$seconds" ]; then
        echo "stopped after $seconds s"
        break
    fi
    cp "$file" "$copy/kept"
    new=$new awk -v first="$first" -v last="$last" '
        NR == first && ENVIRON["new"] != "" { print ENVIRON["new"] }
        NR < first || NR > last' "$copy/kept" >"$file"
    found=$(verdict "$section")
    [ "$found" = same ] || echo "$section $found" >>"$copy/verdicts"
    [ -z "${MUTANTS_LOG:-}" ] ||
        echo "$found: $file:$first: $section, $what: $(old_row "$first" \
            "$last") -> ${new##    }" >>"$MUTANTS_LOG"
    if [ "$found" = survived ]; then
        echo "survived: $file:$first: $section, $what: $(old_row "$first" \
            "$last") -> $(echo "${new:-nothing}" | sed 's/^ *//')"
    fi
    cp "$copy/kept" "$file"
done <"$copy/changes"

awk '
    function line(name, of) {
        printf "%s: %d changes, %d refused by the build, %d found by a " \
            "test, %d survived\n", name, all[of], n[of, "refused"],
            n[of, "found"], n[of, "survived"]
    }
    {
        all[$1]++
        n[$1, $2]++
        all[""]++
        n["", $2]++
        where[$1] = 1
    }
    END {
        for (name in where)
            line(name, name)
        line("all", "")
    }' "$copy/verdicts"
