# SPDX-License-Identifier: MIT
#
# report.awk - the JUnit report of validate as a log, a summary or annotations
#
#     awk -v kind=log|summary|annotations -f report.awk REPORT
#
# Each element of the report has a line of its own, and its text has neither
# control characters nor a raw '<', '>', '&' or '"' (cli/commands/validate).
#
# log: a line for each finding, worst first.
#
# summary: a table in HTML, without an empty line in it: up to that, Markdown
# reads nothing in a table.  In <code>, a forge finds no addresses and names of
# people.  It takes 1 MiB and no more, so rows end before.
#
# annotations: workflow commands for the first ten errors and ten warnings; the
# runner shows no more.
BEGIN { summary_max = 800000 }

# attribute(NAME): of the element in this line.
function attribute(name,    text) {
    text = $0
    if (!sub(".* " name "=\"", "", text))
        return ""
    sub(/".*/, "", text)
    return text
}

# The text of the element in this line.
function content(    text) {
    text = $0
    sub(/^[^>]*>/, "", text)
    sub(/<\/[a-z-]*>$/, "", text)
    return text
}

function add(severity, rule, text) {
    count[severity]++
    row[severity, count[severity]] = path SUBSEP rule SUBSEP text SUBSEP line
}

/^    <testcase / { path = attribute("classname"); name = attribute("name") }
/^    <testcase / && name ~ /^valid( \([0-9]+\))?$/ { add("valid", "", "") }
/^      <(failure|error|system-out)/ {
    line = content()
    rest = substr(line, length(path) + 1)
    severity = /^ *<system-out/ && rest ~ /^: note / ? "note" : \
        /^ *<system-out/ && rest ~ /^: warning / ? "warning" : \
        /^ *<system-out/ ? "note" : "error"
    rule = name
    sub(/ .*/, "", rule)
    if (rest ~ /^: (error|warning|note) [A-Z0-9-]+/)
        sub(/^: [a-z]+ [A-Z0-9-]+(: | )/, "", rest)
    else {
        rule = ""
        sub(/^: /, "", rest)
    }
    add(severity, rule, rest)
}

function plain(text) {
    gsub(/&lt;/, "<", text)
    gsub(/&gt;/, ">", text)
    gsub(/&quot;/, "\"", text)
    gsub(/&amp;/, "\\&", text)
    return text
}

# Text of a workflow command, and a property of one.
function data(text) {
    text = plain(text)
    gsub(/%/, "%25", text)
    return text
}
function property(text) {
    text = data(text)
    gsub(/:/, "%3A", text)
    gsub(/,/, "%2C", text)
    return text
}

function code(text) {
    return text == "" ? "" : "<code>" text "</code>"
}

function print_row(severity, part,    line) {
    if (kind == "log") {
        if (severity != "valid")
            print plain(part[4])
        return
    }
    if (kind == "annotations") {
        sub(/^\.\//, "", part[1])
        if (severity ~ /^(error|warning)$/ && ++shown[severity] <= 10)
            print "::" severity " file=" property(part[1]) ",title=" \
                property(part[2] == "" ? "modelfile" : part[2]) "::" data(part[3])
        return
    }
    line = "<tr><td>" code(part[1]) "</td><td>" severity "</td><td>" \
        code(part[2]) "</td><td>" code(part[3]) "</td></tr>"
    size += length(line) + 1
    if (size > summary_max)
        left++
    else
        print line
}

END {
    if (kind == "summary") {
        print "<table>"
        print "<tr><th>File</th><th></th><th>Rule</th><th>Finding</th></tr>"
    }
    wanted = split("error warning note valid", order, " ")
    for (s = 1; s <= wanted; s++)
        for (i = 1; i <= count[order[s]]; i++) {
            split(row[order[s], i], part, SUBSEP)
            print_row(order[s], part)
        }
    if (kind == "summary") {
        print "</table>"
        if (left)
            print "\n" left " more rows are not shown here: the reports have them."
    }
}
