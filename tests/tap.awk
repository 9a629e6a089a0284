# SPDX-License-Identifier: MIT
#
# tap.awk - rewrites what one test printed so that every reader gets it right
#
#     awk -v name=TEST -v status=ITS_EXIT_CODE -v counts=FILE -f tap.awk
#
# cmocka writes a skipped test as "not ok 2 # SKIP name" (prove takes that for
# a failure), a failed group setup as test 0, and a plan for every group; a
# test in between may print lines of its own.  Results are renumbered here,
# and one plan is at the end.  Into counts goes "passed failed skipped".
/^1\.\.0/ { # a whole script that has nothing to do here
    reason = $0
    sub(/^1\.\.0[ \t#]*/, "", reason)
    sub(/^[Ss][Kk][Ii][Pp][^ ]* */, "", reason)
    whole = 1
    next
}
/^1\.\.[0-9]+[ \t]*$/ { planned += substr($0, 4); plans++; next }
/^(not )?ok([ \t]|$)/ {
    bad = /^not/
    skipped = /# *[Ss][Kk][Ii][Pp]/
    text = $0
    sub(/^(not )?ok[ \t]*[0-9]*[ \t]*-?[ \t]*/, "", text)
    if (skipped && text ~ /^# *[Ss][Kk][Ii][Pp]/) {
        sub(/^# *[Ss][Kk][Ii][Pp][ \t]*/, "", text)
        text = text " # SKIP"
    }
    seen++
    result((bad && !skipped ? "not ok " : "ok "), text, skipped)
    next
}
# Readers of this word would run no other test.
/^Bail out!/ { print "# " $0; next }
{ print }
function result(word, text, skipped) {
    lines++
    print word lines " - " text
    if (skipped)
        skip++
    else if (word ~ /^not/)
        fail++
    else
        pass++
}
END {
    if (whole && !lines && status == 0)
        result("ok ", name " # SKIP " reason, 1)
    else if (status == 124)
        result("not ok ", name " was out of time", 0)
    else if (status > 124 || (status != 0 && !fail))
        result("not ok ", name " ended with status " status, 0)
    else if (!plans || planned != seen + 0)
        result("not ok ", sprintf("%s planned %d tests and ran %d", name,
            planned, seen), 0)
    print "1.." lines
    print pass + 0, fail + 0, skip + 0 >counts
}
