# SPDX-License-Identifier: MIT
#
# example.awk - the code of a page that begins with these words
#
#     awk -v first="# SPDX" -f tests/project/example.awk docs/adding.md
/^```/ {
    fenced = !fenced
    begins = fenced
    inside = 0
    next
}
begins { inside = index($0, first) == 1 }
{ begins = 0 }
inside
