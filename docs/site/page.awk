# SPDX-License-Identifier: MIT
#
# page.awk - a page of the site from the HTML of its text
#
#     awk -f docs/site/page.awk -v name=cli.html -v found=index.js \
#         -v links=links.txt -v version=0.3.0 cli.fragment >cli.html
#
# Headings get the anchors that GitHub gives them, where they have none; links
# to pages and files of the repository become links of the site (a line of
# links.txt each: the target, a tab, the page).  Adds a row to index.js for each
# section, for search.js.
BEGIN {
    while ((getline line < links) > 0) {
        split(line, link, "\t")
        page_of[link[1]] = link[2]
    }
}

function plain(html) {
    gsub(/<[^>]*>/, "", html)
    return html
}

function unescaped(html) {
    html = plain(html)
    gsub(/&lt;/, "<", html)
    gsub(/&gt;/, ">", html)
    gsub(/&quot;/, "\"", html)
    gsub(/&amp;/, "\\&", html)
    return html
}

# "What is not read": what-is-not-read.
function slug(title,    base, count) {
    base = tolower(unescaped(title))
    gsub(/[^a-z0-9 _-]/, "", base)
    gsub(/ /, "-", base)
    count = used[base]++
    return count ? base "-" count : base
}

# JSON's text.
function quoted(text) {
    gsub(/[\\"]/, "\\\\&", text)
    gsub(/[\t\n ]+/, " ", text)
    gsub(/</, "\\u003c", text)
    return "\"" text "\""
}

function row() {
    if (section == "")
        return
    printf "[%s,%s,%s,%s,%s],\n", quoted(name), quoted(anchor), quoted(title),
        quoted(section), quoted(words) >>found
}

function begin_section(text, id, level) {
    row()
    section = unescaped(text)
    anchor = id
    words = ""
    if (level == 1 && title == "") {
        title = section
        anchor = ""
        return
    }
    contents = contents sprintf("<a%s href=\"#%s\">%s</a>\n",
        level > 2 ? " class=\"deep\"" : "", id, plain(text))
}

# A link of the repository, as a link of the site.
function relinked(line,    before, target, fragment, at) {
    while (match(line, /(href|src)="[^"]*"/)) {
        target = substr(line, RSTART, RLENGTH)
        before = before substr(line, 1, RSTART - 1)
        line = substr(line, RSTART + RLENGTH)
        at = index(target, "\"")
        fragment = substr(target, 1, at)
        target = substr(target, at + 1, length(target) - at - 1)
        before = before fragment site_target(target) "\""
    }
    return before line
}

function site_target(target,    at, fragment) {
    if (target ~ /^([a-z]+:|#)/)
        return target
    at = index(target, "#")
    if (at) {
        fragment = substr(target, at)
        target = substr(target, 1, at - 1)
    }
    sub(/^(\.\.\/|docs\/)+/, "", target)
    if (!(target in page_of))
        print name ": no page for " target >"/dev/stderr"
    return page_of[target] fragment
}

# A break within lines that are as they are would be a second one.
/<pre/ {
    inside = 1
}
inside && /^<br\/>$/ {
    next
}
/<\/pre>/ {
    inside = 0
}
match($0, /^<h[1-3][^>]*>/) {
    level = substr($0, 3, 1)
    head = substr($0, RSTART, RLENGTH)
    text = substr($0, RSTART + RLENGTH)
    while (text !~ /<\/h[1-3]>$/ && (getline more) > 0)
        text = text " " more
    sub(/<\/h[1-3]>$/, "", text)
    gsub(/  +/, " ", text)
    id = head
    if (!sub(/.* id="/, "", id))
        id = slug(text)
    sub(/".*/, "", id)
    begin_section(text, id, level)
    body = body sprintf("<h%s id=\"%s\">%s</h%s>\n", level, id, relinked(text),
        level)
    next
}
{
    gsub(/<table>/, "<div class=\"wide\"><table>")
    gsub(/<\/table>/, "</table></div>")
    body = body relinked($0) "\n"
    words = words " " unescaped($0)
}
END {
    row()
    print "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">"
    print "<meta name=\"viewport\" content=\"width=device-width\">"
    print "<title>" plain(title) (title == "modelfile" ? "" : " - modelfile") \
        "</title>"
    print "<link rel=\"stylesheet\" href=\"style.css\">"
    print "<a class=\"skip\" href=\"#main\">to the text</a>"
    print "<header><strong><a href=\"index.html\">modelfile</a></strong>"
    print "<a href=\"install.html\">Install</a>"
    print "<a href=\"cli.html\">Command line</a>"
    print "<a href=\"manual.html\">Manual</a>"
    print "<a href=\"reference.html\">Library</a>"
    print "<a href=\"rules.html\">Rules</a>"
    print "<a href=\"CHANGELOG.html\">Changes</a>"
    print "<input id=\"search\" type=\"search\" placeholder=\"Search\"" \
        " aria-label=\"Search\" autocomplete=\"off\"></header>"
    print "<ul id=\"found\" aria-live=\"polite\"></ul>"
    print "<div class=\"body\">"
    if (contents != "")
        print "<nav aria-label=\"On this page\">\n" contents "</nav>"
    print "<main id=\"main\">\n" body "</main>\n</div>"
    print "<footer>modelfile " version "</footer>"
    print "<script src=\"index.js\"></script>"
    print "<script src=\"search.js\"></script>\n</html>"
}
