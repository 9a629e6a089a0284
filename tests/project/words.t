#!/bin/sh
# SPDX-License-Identifier: MIT
#
# words.t - messages, comments, names and pages keep to plain English
#
# Two lists.  A phrase of the first was once all over this tree, and is nowhere
# now.  The second has patterns of sentences that a reader stumbles over: a
# pronoun or "that of" where a noun belongs, a passive where somebody acts, the
# word order of another language.  A few of these are right where they are: the
# tree may have as many as `limit` says, and no more.
#
# Names count as text: in mf_x_told, the word 'told' is found.  A phrase is also
# found where a line ends within it.  WORDS=all prints what the second list
# finds.
#
# shellcheck disable=SC1091 # tests run in the top folder
set -u
. tests/tap.sh
. tests/lib-run.sh

# At most 40, ever: lower it when one is mended.
limit=25

# PHRASE: what to write instead.
cat >"$dir/phrases" <<'END'
anew: again, rewritten
are none: missing, not found
blame: mark, report
for nothing: free, without
held against: compared with
in vain: needlessly; or say what happens
learn: read
must be had: is required
no such one: unknown, not supported
settle: resolve, decide
takes away: removes
what is to be: what will be; or name the thing
who watches: the progress function
wishes: options
END

# Expressions for awk, over words in lower case; "." is where a sentence, or a
# comment, begins.
cat >"$dir/patterns" <<'END'
(nobody|somebody|everybody|whoever)
(know|knows|knew) nothing of
nothing of (it|its|this|these|them|that|such|the|a)
none of (its|such|it|those)
(is|are|was|were|be|becomes?) (again |mostly |always |then |also |not )?(that|those) of
(from|to|with|than|like|as|before|after|for|by|of|and|or|but|on|in|at) (that|those) of
[.] (that|those) of
(is|are) none
(is|are) no [a-z]+
behind (it|them|the|a|an|that|those|its|one|each)
beside (it|them|the|a|an|one|that|those|these|its|each|models|tensors)
stands
(is|are|was|were|be|been) told
(is|are) to be
(one|others?) had not
(may|can) be another
(stay|stays|remain|remains) what
so (it )?is (it )?with
of no use
what of
what makes
when all of it
only who
[.] who [a-z]+s
in any case of
for what they
of some (hundred|thousand|dozen)
(hold|holds|held) [a-z ]*against
keys that say a
(file|folder) has it in
what goes with
(something is missing|must be allowed|one argument too many)
fit each other
(metadata|file|header|option|name|type) asks for
pass the data s end
which is said
what comes of
of which nothing
END

# The end of a file's path: a part of the line.  Uses that a native engineer
# would write so, and what is not English.
cat >"$dir/allowed" <<'END'
/arch/tables/common.txt: held against llama.cpp
/docs.t: words='
/parquet.t: is None
/templates.def: a is none if b
.py: is None
END

# Texts of the tree: no builds, no data, no output of other programs.
find . -name '.[!.]*' ! -name .ci -prune -o -name 'build*' -prune -o \
    -path ./fixtures/tokenize -prune -o -path ./fixtures/hub -prune -o \
    -path '*/fuzz/corpus' -prune -o -name words.t -o -type f \( \
    -name '*.[cht]' -o -name '*.hpp' -o -name '*.def' -o -name '*.md' -o \
    -name '*.txt' -o -name '*.sh' -o -name '*.awk' -o -name '*.mjs' -o \
    -name '*.py' -o -name Makefile -o -path './.ci/*' -o \
    -path '*/golden/*' \) -print |
    sed 's|^\./||' | LC_ALL=C sort >"$dir/files"

# uses PATTERNS: "PATTERN<tab>FILE:LINE: text" of each in the files that it
# reads the names of.
uses() {
    LC_ALL=C xargs awk -v patterns="$1" -v allowed="$dir/allowed" '
        # Lower case; anything that is no letter separates words.
        function words(text) {
            gsub(/\/\*+/, " . ", text)
            gsub(/[.;:?!]+([ \t"]|$)/, " . ", text)
            text = tolower(text)
            gsub(/[^a-z.]+/, " ", text)
            gsub(/[^ ][.]|[.][^ ]/, " ", text)
            return " " text " "
        }
        # Without uses of these words that are plain.
        function plain(text) {
            gsub(/ there (is|are) no(ne)? /, " _ ", text)
            gsub(/ (is|are) no (longer|more|less|such|faster|slower|wider) /,
                " _ ", text)
            gsub(/ stands? for /, " _ ", text)
            return text
        }
        function is_allowed(    i) {
            for (i = 0; i < count; i++)
                if (substr(FILENAME, length(FILENAME) - length(file[i]) + 1) \
                    == file[i] && index($0, part[i]))
                    return 1
            return 0
        }
        # How often the pattern is in the text.
        function times(text, pattern,    found) {
            found = 0
            while (match(text, " (" pattern ") ")) {
                found++
                text = substr(text, RSTART + RLENGTH - 1)
            }
            return found
        }
        BEGIN {
            count = wanted = 0
            while ((getline line <allowed) > 0) {
                at = index(line, ": ")
                file[count] = substr(line, 1, at - 1)
                part[count++] = substr(line, at + 2)
            }
            while ((getline line <patterns) > 0) {
                all = all (wanted ? "|" : "") line
                pattern[wanted++] = line
            }
        }
        FNR == 1 { before = "" }
        {
            now = words($0)
            joined = before now
            gsub(/ +/, " ", joined)
            joined = plain(joined)
            if (joined ~ " (" all ") " && !is_allowed())
                for (i = 0; i < wanted; i++) {
                    new = times(joined, pattern[i]) - \
                        times(plain(before), pattern[i])
                    while (new-- > 0)
                        print pattern[i] "\t" FILENAME ":" FNR ": " $0
                }
            # The last words, as a phrase may begin with them.
            before = now
            gsub(/ +/, " ", before)
            if (match(before, /( [^ ]+)( [^ ]+)?( [^ ]+)?( [^ ]+)?( [^ ]+)? $/))
                before = substr(before, RSTART)
        }'
}

check "there are files to search" [ "$(wc -l <"$dir/files")" -gt 1000 ]

cut -d : -f 1 "$dir/phrases" >"$dir/none"
uses "$dir/none" <"$dir/files" >"$dir/found"
while IFS=: read -r phrase instead; do
    check_empty "'$phrase' is not used; instead:$instead" \
        grep "^$phrase	" "$dir/found"
done <"$dir/phrases"

uses "$dir/patterns" <"$dir/files" >"$dir/stumbles"
[ -z "${WORDS:-}" ] || sed 's/^/# /' "$dir/stumbles"
found=$(wc -l <"$dir/stumbles")
echo "# $found sentences to mend"
at_most() { # COUNT LIMIT FILE
    [ "$1" -le "$2" ] && return
    cat "$3"
    return 1
}
check "at most $limit sentences need mending: $found" \
    at_most "$found" "$limit" "$dir/stumbles"

finish
