# SPDX-License-Identifier: MIT
#
# manual.awk - pages of the manual from the public header
#
#     awk -f lib/manual.awk -v folder=build/man/man3 -v version=0.3.0 \
#         -v date=2026-11-28 lib/modelfile.h
#
# Writes modelfile.3, which is the comment at the top of the header, and for
# each part of it, from one "---- Title ----" to the next, modelfile-TITLE.3.
# Prints for each function the name of a page and the one that it is a link to:
# "mf_tensor_read.3 modelfile-reading.3".
#
# A comment explains the declarations that follow it, up to an empty line.
# Members of a struct and values of an enum become a list.

# What means something to roff, as what does not.
function escaped(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/'/, "\\(aq", text)
    gsub(/"/, "\\(dq", text)
    gsub(/`/, "\\(ga", text)
    gsub(/\^/, "\\(ha", text)
    gsub(/~/, "\\(ti", text)
    return text
}

function out(line) {
    print line >page
}

# A line as it is.
function literal(line) {
    line = escaped(line)
    out((line ~ /^[.]/ ? "\\&" : "") line)
}

# Words, in lines of the source that are not too long.
function fill(text,    words, count, i, line) {
    count = split(text, words, /[ \n]+/)
    for (i = 1; i <= count; i++) {
        if (words[i] == "")
            continue
        if (line != "" && length(line) + length(words[i]) > 58) {
            literal(line)
            line = ""
        }
        line = line (line == "" ? "" : " ") words[i]
    }
    if (line != "")
        literal(line)
}

# Paragraphs of a comment; lines that are indented stay as they are.
function prose(text, first,    lines, count, i, words) {
    count = split(text, lines, "\n")
    for (i = 1; i <= count; i++) {
        if (lines[i] !~ /^  /) {
            words = words " " lines[i]
            if (lines[i] != "" && i < count && lines[i + 1] !~ /^  /)
                continue
        }
        if (words ~ /[^ ]/) {
            if (!first)
                out(".PP")
            fill(words)
            first = 0
        }
        words = ""
        if (lines[i] ~ /^  /) {
            if (!first)
                out(".PP")
            out(".nf")
            for (; i <= count && (lines[i] ~ /^  / || lines[i] == ""); i++)
                literal(lines[i])
            out(".fi")
            first = 0
            i--
        }
    }
}

# ---- members of a struct, values of an enum ----

# What is between comments and semicolons, on one line.
function plain(code) {
    gsub(/[ \n]+/, " ", code)
    sub(/^ /, "", code)
    sub(/ $/, "", code)
    return code
}

# The text of a comment, on one line.
function remark(text) {
    gsub(/\n[ ]*\*?/, " ", text)
    return plain(text)
}

function member(code, before, after) {
    code = plain(code)
    if (code == "")
        return
    out(".TP")
    out(".B " escaped(code))
    if (before == "" && after == "")
        out("\\&")
    if (before != "")
        fill(before)
    if (after != "")
        fill(after)
}

# ends: what ends a member, ";", or a value, ",".
function body(text, ends,    at, depth, code, before, after, one, end, own) {
    while (text != "") {
        at = match(text, /\/\*|[;,{}()]/)
        if (!at) {
            code = code text
            break
        }
        code = code substr(text, 1, at - 1)
        one = substr(text, at, 1)
        if (one == "/") {
            end = index(text, "*/")
            own = remark(substr(text, at + 2, end - at - 2))
            text = substr(text, end + 2)
            if (plain(code) != "") { # in the middle of a declaration
                before = before (before == "" ? "" : " ") own
                continue
            }
            if (held != "" && code !~ /\n/) {
                after = after (after == "" ? "" : " ") own
                continue
            }
            if (held != "")
                member(held, lead, after)
            held = after = ""
            before = before (before == "" ? "" : " ") own
            code = ""
            continue
        }
        text = substr(text, at + 1)
        if (one == "{" || one == "(")
            depth++
        else if (one == "}" || one == ")")
            depth--
        if (one == ends && depth == 0) {
            if (held != "")
                member(held, lead, after)
            held = code (one == ";" ? ";" : "")
            lead = before
            code = before = after = ""
        } else {
            code = code one
        }
    }
    if (held != "")
        member(held, lead, after)
    held = ""
    member(code, before, "")
}

# ---- declarations ----

function block(text, comment,    open, close_at, head, tail) {
    open = index(text, "{")
    if (text ~ /^(struct|enum|union) [a-z0-9_]+ \{/) {
        close_at = length(text)
        while (substr(text, close_at, 1) != "}")
            close_at--
        out(".SS " escaped(plain(substr(text, 1, open - 1))))
        spaced++
        if (comment != "")
            prose(comment, 1)
        body(substr(text, open + 1, close_at - open - 1),
            text ~ /^enum/ ? "," : ";")
        return
    }
    if (functions(text) != "")
        out(".SS " escaped(heading(functions(text))))
    else if (spaced)
        out(".PP")
    spaced++
    out(".nf")
    code_lines(text)
    out(".fi")
    if (comment != "")
        prose(comment, 0)
}

# A declaration in lines that are not too long, each but the first indented.
function declaration(text,    parts, count, i, line, open) {
    text = plain(text)
    gsub(/\* /, "*", text)
    count = split(text, parts, ", ")
    for (i = 1; i <= count; i++) {
        if (i < count)
            parts[i] = parts[i] ","
        if (line != "" && length(line) + length(parts[i]) > 68) {
            literal(line)
            line = "   "
        }
        open = index(parts[i], "(")
        if (i == 1 && length(parts[i]) > 73 && open) {
            literal(substr(parts[i], 1, open))
            parts[i] = substr(parts[i], open + 1)
            line = "   "
        }
        line = line (line == "" ? "" : " ") parts[i]
    }
    literal(line)
}

# Declarations without what only the compiler needs; a line of the preprocessor
# stays as it is.
function code_lines(text,    lines, count, i, whole) {
    count = split(text, lines, "\n")
    for (i = 1; i <= count; i++) {
        sub(/^MF_API /, "", lines[i])
        if (lines[i] ~ /^#/) {
            literal(lines[i])
            continue
        }
        whole = whole " " lines[i]
        if (lines[i] ~ /;$/) {
            declaration(whole)
            whole = ""
        }
    }
    if (whole != "")
        declaration(whole)
}

function begin_page(name, title) {
    page = folder "/" name ".3"
    spaced = 0
    out(".TH " toupper(escaped(name)) " 3 \"" date "\" \"modelfile " version \
        "\" \"libmodelfile\"")
    out(".ad l")
    out(".nh")
    out(".SH NAME")
    out(escaped(name) " \\-")
    out(escaped(title))
    out(".SH SYNOPSIS")
    out(".B #include <modelfile.h>")
    out(".SH DESCRIPTION")
}

function end_page() {
    out(".SH SEE ALSO")
    out(".BR modelfile (3)")
    close(page)
}

# "Types and formats": modelfile-types-and-formats.
function page_of(title) {
    title = tolower(title)
    gsub(/[^a-z0-9]+/, "-", title)
    return "modelfile-" title
}

# The functions that are declared, "mf_env_heap, mf_env_io".
function functions(text,    at, head, names) {
    while ((at = index(text, "MF_API ")) > 0) {
        text = substr(text, at + 7)
        head = substr(text, 1, index(text, "(") - 1)
        sub(/.*[ *\n]/, "", head)
        names = names (names == "" ? "" : ", ") head
    }
    return names
}

# A heading has three at most.
function heading(names,    each) {
    return split(names, each, ", ") <= 3 ? names : each[1] " and others"
}

# The page of a function is the one of its part.
function aliases(text,    names, count, i) {
    count = split(functions(text), names, ", ")
    for (i = 1; i <= count; i++)
        print names[i] ".3", current ".3"
}

# ---- the header ----

# What was collected since the last empty line.
function flush() {
    if (code != "") {
        aliases(code)
        block(code, comment)
    } else if (comment != "") {
        prose(comment, !spaced++)
    }
    code = comment = ""
}

# The comment at the top, without its first lines.
NR == 1 {
    top = 1
}
top {
    line = $0
    sub(/^ \*\/?/, "", line)
    sub(/^ /, "", line)
    if (NR > 4)
        comment = comment line "\n"
    if (/^ \*\//) {
        top = 0
        overview = comment
        comment = ""
    }
    next
}
/^\/\* ---- / {
    flush()
    if (page != "")
        end_page()
    title = $0
    gsub(/^\/\* ---- | -*[-* \/]*$/, "", title)
    titles[++title_count] = title
    current = page_of(title)
    begin_page(current, tolower(title) " with libmodelfile")
    next
}
title == "" || /^#if|^#e|^}$|^#define MF_API/ {
    next
}
/^\/\*/ {
    if (code != "")
        flush()
    talking = 1
}
talking {
    line = $0
    sub(/^\/\* /, "", line)
    sub(/^ \* ?/, "", line)
    sub(/ ?\*\/$/, "", line)
    comment = comment (comment == "" ? "" : "\n") line
    if (/\*\/$/)
        talking = 0
    next
}
/^$/ {
    flush()
    next
}
{
    code = code (code == "" ? "" : "\n") $0
}
END {
    flush()
    end_page()
    begin_page("modelfile", "read, check and write model files")
    prose(overview, 1)
    out(".SH PAGES")
    for (i = 1; i <= title_count; i++) {
        out(".TP")
        out(".BR " escaped(page_of(titles[i])) " (3)")
        out(titles[i])
    }
    out(".SH SEE ALSO")
    out(".BR modelfile (1)")
}
