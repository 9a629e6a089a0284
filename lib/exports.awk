# SPDX-License-Identifier: MIT
#
# exports.awk - the functions of modelfile.h as a version script for the linker
#
#     awk -f lib/exports.awk -v version=0.3 lib/modelfile.h >modelfile.map
#
# A declaration begins with MF_API; what comes before its parenthesis ends with
# the name.
BEGIN {
    print "MODELFILE_" version " {"
    print "global:"
}
/^#/ {
    next
}
/^MF_API / {
    declaration = ""
    open = 1
}
open {
    declaration = declaration " " $0
    at = index(declaration, "(")
    if (at) {
        name = substr(declaration, 1, at - 1)
        sub(/.*[ *]/, "", name)
        print "    " name ";"
        open = 0
    }
}
END {
    print "local:"
    print "    *;"
    print "};"
}
