# SPDX-License-Identifier: MIT
#
# rules_text.awk - the paragraphs of docs/rules.md that explain a rule
#
#     awk -f cli/rules_text.awk docs/rules.md
#
# "### ID" begins that of a rule, the next heading ends it.  Each is printed as a
# line with the ID, its lines, and an empty one.
/^#/ {
    if (id != "")
        print ""
    id = ""
}
/^### / {
    id = $2
    print id
    next
}
id != "" && NF > 0
END {
    if (id != "")
        print ""
}
