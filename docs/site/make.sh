#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make.sh - the site: pages of docs/, the manual, and a list of functions
#
#     docs/site/make.sh build/man 0.3.0 build/site
#
# Files that need no server: open index.html.  Needs cmark-gfm and mandoc.
set -eu

man=$1 version=$2 site=$3
here=docs/site

for tool in cmark-gfm mandoc; do
    command -v "$tool" >/dev/null || {
        echo "make site needs (Debian's names): cmark-gfm mandoc" >&2
        exit 1
    }
done

rm -rf "$site"
mkdir -p "$site"
work=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-site.XXXXXX")
trap 'rm -rf "$work"' EXIT

pages="README.md CONTRIBUTING.md CHANGELOG.md fixtures/README.md $(echo docs/*.md)"

# page_name FILE: the page that it becomes.
page_name() {
    case $1 in
    README.md) echo index.html ;;
    fixtures/README.md) echo fixtures.html ;;
    *) echo "$(basename "$1" .md).html" ;;
    esac
}

# Which page a file of the repository is.
for page in $pages; do
    printf '%s\t%s\n' "${page#docs/}" "$(page_name "$page")"
done >"$work/links"
for page in "$man"/man?/modelfile*; do
    printf '%s.html\t%s.html\n' "$(basename "$page")" "$(basename "$page")"
done >>"$work/links"
printf '%s\t%s\n' manual.html manual.html reference.html reference.html \
    >>"$work/links"

# Files and folders that pages link to are shown as they are.
sources() {
    # shellcheck disable=SC2086 # file names have no spaces here
    sed 's/](/\n](/g' $pages | sed -n 's/^](\([^)#: ]*\).*/\1/p' |
        sed 's,^\(\.\./\|docs/\)*,,' | grep -v '\.md$\|^http\|^$' | sort -u |
        while read -r file; do
            [ -e "$file" ] || file=docs/$file
            [ ! -d "$file" ] || find "$file" -type f
            echo "$file"
        done
}
sources | sort -u | while read -r file; do
    name=$(printf %s "${file#docs/}" | tr / -)
    case $file in
    *.svg) cp "$file" "$site/$name" ;;
    *)
        name=$name.html
        if [ -d "$file" ]; then
            echo "# $file"
            find "$file" -type f | LC_ALL=C sort | sed 's/.*/* [&](&)/'
        else
            printf '# %s\n\n````\n' "$file"
            cat "$file"
            echo '````'
        fi >"$work/source-$name.md"
        ;;
    esac
    printf '%s\t%s\n' "${file#docs/}" "$name"
done >>"$work/links"

# make_page NAME <HTML
make_page() {
    awk -f $here/page.awk -v name="$1" -v found="$work/index" \
        -v links="$work/links" -v version="$version" >"$site/$1"
}

from_markdown() { # FILE NAME
    cmark-gfm --unsafe -e table -e autolink -e strikethrough "$1" |
        make_page "$2"
}

for page in $pages; do
    from_markdown "$page" "$(page_name "$page")"
done
for page in "$work"/source-*.md; do
    name=${page##*/source-}
    from_markdown "$page" "${name%.md}"
done

# ---- the manual ----

for page in "$man"/man?/modelfile*; do
    [ ! -h "$page" ] || continue
    name=$(basename "$page")
    {
        echo "<h1>${name%.*}(${name##*.})</h1>"
        mandoc -T html -O fragment,man=%N.%S.html "$page" |
            sed 's,<\(/*\)h2,<\1h3,g; s,<\(/*\)h1,<\1h2,g'
    } | make_page "$name.html"
done

# The line after NAME.
summary() {
    sed -n '/^.SH NAME/,/^.SH SYN\|^.SH DESC/{/^\./d; s/.*\\-$//; /./p;}' "$1" |
        sed 's/\\-/-/g; s/\\(aq/'"'"'/g'
}
{
    echo "# Manual"
    for section in 1 7 3; do
        echo
        case $section in
        1) echo "## Commands" ;;
        7) echo "## Tables" ;;
        3) echo "## The library" ;;
        esac
        echo
        for page in "$man/man$section"/modelfile*; do
            [ -h "$page" ] || printf '* [%s](%s.html): %s\n' \
                "$(basename "${page%.*}")($section)" \
                "$(basename "$page")" "$(summary "$page")"
        done
    done
} >"$work/manual.md"
from_markdown "$work/manual.md" manual.html

# Where each function is declared: "FUNCTION PAGE#ANCHOR".
functions() {
    awk '
        FNR == 1 { page = FILENAME; sub(/.*\//, "", page) }
        match($0, /<h[1-3] id="[^"]*"/) {
            anchor = substr($0, RSTART + 8, RLENGTH - 9)
        }
        /<pre/ { inside = 1 }
        inside {
            line = $0
            while (match(line, /mf_[a-z0-9_]+\(/)) {
                print substr(line, RSTART, RLENGTH - 1), page "#" anchor
                line = substr(line, RSTART + RLENGTH)
            }
        }
        /<\/pre/ { inside = 0 }' "$site"/modelfile-*.3.html | LC_ALL=C sort -u |
        while read -r name place; do
            [ ! -e "$man/man3/$name.3" ] || echo "$name $place"
        done
}
{
    echo "# Functions of the library"
    echo
    echo "\`#include <modelfile.h>\`: [modelfile(3)](modelfile.3.html) says how"
    echo "its functions behave; [embedding](embedding.md) shows programs."
    echo
    functions | awk '!seen[$1]++ { printf "* [%s](%s)\n", $1, $2 }'
} >"$work/reference.md"
from_markdown "$work/reference.md" reference.html

{
    echo "const INDEX = ["
    cat "$work/index"
    echo "];"
} >"$site/index.js"
cp $here/style.css $here/search.js "$site/"
