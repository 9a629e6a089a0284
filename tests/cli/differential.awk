# SPDX-License-Identifier: MIT
#
# differential.awk - sums up what differential.sh prints
#
#     awk -F'\t' -f differential.awk tests/data/differential.tsv LINES
#
# For each model: how many faulty copies the judge refuses, how many of them are
# errors of validate, how many it runs, how many of those are errors.  Then each
# disagreement that no row of differential.tsv explains.

FNR == NR {
    if ($0 !~ /^#/ && NF >= 6) {
        rows++
        direction[rows] = $1
        model[rows] = $2
        place[rows] = $3
        name[rows] = $4
        fault[rows] = $5
    }
    next
}

function explained(way,    row) {
    for (row = 1; row <= rows; row++) {
        if (direction[row] == way && $1 ~ "^(" model[row] ")$" &&
            $2 ~ "^(" place[row] ")$" && $3 ~ "^(" name[row] ")$" &&
            $4 ~ "^(" fault[row] ")$") {
            met[row]++
            return 1
        }
    }
    return 0
}

{
    if (!($1 in seen)) {
        seen[$1] = 1
        order[++models] = $1
    }
    error = $6 != "-"
}

$4 == "good" {
    if ($5 != "ok" || error) {
        bad[++bads] = "good " $1 ": " $5 " " $7 "; validate: " $6
    }
    next
}

$5 != "ok" {
    refused[$1]++
    if (error) {
        caught[$1]++
    } else if (!explained("runs not")) {
        bad[++bads] = "passes " $1 ": " $2 " " $3 ": " $4 " | " $5 " " $7
    }
    next
}

{
    runs[$1]++
    if (error) {
        alarm[$1]++
        if (!explained("runs")) {
            bad[++bads] = "alarm " $1 ": " $2 " " $3 ": " $4 " | " $6
        }
    }
}

END {
    printf "%-28s %8s %8s %7s %8s %8s\n", "model", "refused", "errors",
        "%", "runs", "errors"
    for (i = 1; i <= models; i++) {
        m = order[i]
        printf "%-28s %8d %8d %7.1f %8d %8d\n", m, refused[m], caught[m],
            refused[m] ? 100 * caught[m] / refused[m] : 100, runs[m], alarm[m]
        all_refused += refused[m]
        all_caught += caught[m]
        all_runs += runs[m]
        all_alarm += alarm[m]
    }
    printf "%-28s %8d %8d %7.1f %8d %8d\n", "all", all_refused, all_caught,
        all_refused ? 100 * all_caught / all_refused : 100, all_runs, all_alarm
    for (i = 1; i <= bads; i++) {
        print bad[i]
    }
    for (row = 1; row <= rows; row++) {
        if (!met[row]) {
            print "unused row: " direction[row] " " model[row] " " place[row] \
                " " name[row] " " fault[row]
        }
    }
}
