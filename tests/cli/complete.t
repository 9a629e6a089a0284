#!/bin/sh
# SPDX-License-Identifier: MIT
#
# complete.t - what the shells offer to complete a command line with
#
# What `modelfile complete` prints; complete_shells.t types keys.  Names in a
# file of the test are commands that would make a file "pwned".
#
# shellcheck disable=SC1091,SC2016,SC2317,SC2154 # tests run in the top folder,
#         and give their functions to others to call; names are not expanded
set -u
. tests/tap.sh
. tests/lib-run.sh
. tests/lib-names.sh
mkdir -p "$dir/here"
cp "$fixtures/good-llama.gguf" "$dir/here/m.gguf"

# asked WORD...: what can follow, in $dir/out; nothing else is printed.
asked() {
    (cd "$dir/here" && timeout 20 "$modelfile" complete --quiet -- "$@") \
        >"$dir/out" 2>"$dir/err" </dev/null && [ ! -s "$dir/err" ] && return
    echo "complete -- $*:" && cat "$dir/err"
    return 1
}

candidates() {
    grep -v '^	' "$dir/out" | cut -f1
}

# offers "CANDIDATE..." WORD...: these, among others.
offers() {
    offers_wanted=$1
    shift
    asked "$@" || return
    for each in $offers_wanted; do
        candidates | grep -qxF -e "$each" || {
            echo "complete -- $*: no $each in:"
            cat "$dir/out"
            return 1
        }
    done
}

# offers_only "CANDIDATE..." WORD...: exactly these, in any order.
offers_only() {
    offers_only_wanted=$1
    offers "$@" || return
    candidates | LC_ALL=C sort >"$dir/found"
    # shellcheck disable=SC2086 # a line for each
    printf '%s\n' $offers_only_wanted | grep . | LC_ALL=C sort | diff - "$dir/found"
}

# by_shell "DIRECTIVE..." WORD...: what the shell has to do.
by_shell() {
    by_shell_wanted=$1
    shift
    asked "$@" || return
    [ "$(sed -n 's/^	\([a-z]*\).*/\1/p' "$dir/out" | uniq | tr '\n' ' ')" = \
        "$by_shell_wanted " ] && return
    cat "$dir/out"
    return 1
}

check "commands" offers "detect info tensors meta validate convert" ''
check "a command, and files after it" by_shell "suffix models" in
check "a command" offers_only "info" in
check "sub-commands" offers "list get set unset recover" meta ''
check "those of help" offers_only "info stats export" help tensors ''
check "options" offers "--tsv --totals --json --quiet" tensors info -
check "second names of options" offers "--output-type --output-tensor-type" \
    quantize a b Q8_0 --output
check "options before the command" offers_only "tensors" --json ten
check "a value before it" offers_only "tensors" --max-memory 1G ten
check "words that people type for a command" offers_only "--algo --allow-missing" checksum --al
check "types" offers_only "Q4_0 Q4_1 Q4_K_S Q4_K_M" quantize m.gguf o.gguf q4
check "or a file where that is optional" by_shell "files" quantize m.gguf ''
check "types of tensors" offers "q4_k q8_0" quantize m.gguf - Q8_0 --output-type ''
check "types of a cache" offers_only "q8_0" plan m.gguf --type-k q8
check "a type in the same word" offers_only "--type-k=q8_0" plan m.gguf --type-k=q8
check "mixes" offers_only "Q4_K_S Q4_K_M" plan m.gguf --as q4_k
check "formats" offers "gguf apr safetensors" convert m.gguf - --to ''
check "rules" offers_only "TENSOR-OVERLAP" validate m.gguf --ignore tensor-overl
check "algorithms" offers_only "sha1 sha256" hash m.gguf --algo sha
check "after =" offers_only "--algo=sha1 --algo=sha256" hash m.gguf --algo=sha
check "instruction sets" offers "portable" bench --isa ''
check "letters" offers "info" -q -t4 in
check "the value of a letter is not a command" offers "info" -t 4 in
check "keys" offers_only "general.license" meta get m.gguf general.lic
check "more keys" offers_only "general.name" meta get m.gguf general.license general.na
check "keys to be set" offers_only "general.name=" meta set m.gguf general.na
check "names of tensors" offers_only "output.weight output_norm.weight" tensors info m.gguf out
check "of the file that is on the line" offers_only "" tensors info no-file.gguf out
check "tensors and types" offers_only "output.weight=" quantize m.gguf - Q8_0 \
    --tensor-type output.
check "the type of one" offers_only "output.weight=q5_0 output.weight=q5_1 output.weight=q5_k" \
    quantize m.gguf - Q8_0 --tensor-type output.weight=q5
check "in one word" offers_only "--tensor-type=output.weight=q5_k" \
    quantize m.gguf - Q8_0 --tensor-type=output.weight=q5_k
check "mixes, for an output of their own" offers_only "Q4_K_M= Q4_K_S=" \
    quantize m.gguf --output Q4_K_
check "models by suffix" by_shell "suffix models" info ''
check "folders" by_shell "folders" bench --verify ''
check "files after =" by_shell "after files" validate m.gguf --sarif=
check "an optional value only after =" by_shell "suffix models" info --dhat ''
check "nothing for a number" offers_only "" tensors m.gguf --top ''
check "no options after --" offers_only "" info -- --js
check "but operands" by_shell "suffix models" info -- ''

# ---- mistakes ----

for words in '' 'nonsense' 'nonsense x' '--nonsense' '--nonsense=1' '-- --' '--' '-' \
    'meta' 'meta nonsense x' 'help nonsense x' 'tensors info' 'info --algo=' \
    'complete -- x' 'version x y z' '--top' '-t' '= =' 'info --color=sometimes'; do
    # shellcheck disable=SC2086 # words
    check "wrong: '$words'" asked $words
    # shellcheck disable=SC2086
    check "wrong: '$words ' and a word" asked $words ''
done
check "no word at all" asked
long=$(head -c 50000 /dev/zero | tr '\0' x)
check "a long word" asked "$long" "--$long=$long" "$long=$long" "--tensor-type=$long"

# ---- files that are not good models ----

# on_file FILE: tensors and keys are asked for; what comes is printable.
on_file() {
    asked tensors info "$1" '' && asked meta get "$1" '' && cp "$dir/out" "$dir/keys.out" &&
        asked meta set "$1" '' || return
    LC_ALL=C grep -q '[[:cntrl:]]' "$dir/keys.out" || return 0
    ! tr -d '\t\n' <"$dir/keys.out" | LC_ALL=C grep '[[:cntrl:]]'
}
on_files() {
    for file; do
        on_file "$file" || return
    done
}
truncated() {
    size=$(wc -c <"$dir/here/m.gguf")
    for end in 0 1 3 4 8 16 23 24 32 100 333 1000 2000 $((size - 1)); do
        head -c "$end" "$dir/here/m.gguf" >"$dir/here/short.gguf"
        on_file short.gguf || return
    done
}
check "a file that is missing" on_file missing.gguf
check "truncated files" truncated
check "bad fixtures" on_files "$fixtures"/bad-*
check "folders" on_files "$fixtures"/good-hf-llama "$fixtures" /
mkdir "$dir/here/pipes"
mkfifo "$dir/here/pipe.gguf" "$dir/here/pipes/config.json" "$dir/here/pipes/model.safetensors"
check "a pipe is not waited for" on_file pipe.gguf
check "nor one in a folder" on_file pipes
check "nor standard input" on_file -
check "a device is not opened" on_file /dev/zero
rm -r "$dir/here/pipe.gguf" "$dir/here/pipes"

# ---- names that are commands ----

{ good_names && bad_names; } | perl tests/cli/gguf_names.pl "$dir/here/h.gguf"
good_names | tr '\0' '\n' | LC_ALL=C sort >"$dir/good"

all_good() {
    asked "$@" && candidates | grep -v '^general\.architecture' | sed 's/=$//' |
        LC_ALL=C sort >"$dir/found" && sed 's/=$//' "$dir/good" | diff - "$dir/found"
}
check "the file is read" expect 0 'k01$(touch pwned)' meta list "$dir/here/h.gguf"
check "of its keys those that can be shown are offered" all_good meta get h.gguf ''
check "of its tensors, too" all_good tensors info h.gguf ''
check "to be set" all_good meta set h.gguf ''
check "what looks like an option is offered after --" offers "--force -x" meta get h.gguf -- ''

# ---- time ----

# seconds LIMIT WORD...: of the processor; the best of five runs.
seconds() {
    (cd "$dir/here" && perl -e '
        my ($limit, $program, @words) = @ARGV;
        my $best = 1e9;
        for (1 .. 5) {
            my @before = times;
            open my $old, ">&", \*STDOUT;
            open STDOUT, ">", "/dev/null";
            system $program, "complete", "--quiet", "--", @words and exit 1;
            open STDOUT, ">&", $old;
            my @after = times;
            my $time = $after[2] + $after[3] - $before[2] - $before[3];
            $best = $time if $time < $best;
        }
        printf "%g s\n", $best;
        exit($best > $limit);' "$1" "$modelfile" "$2" "$3" "$4" "$5")
}
many_names 100 | perl tests/cli/gguf_names.pl "$dir/here/some.gguf"
many_names 9000 | perl tests/cli/gguf_names.pl "$dir/here/many.gguf"
if counts_memory; then
    check "1,000 tensors take at most 20 ms" seconds 0.02 tensors info some.gguf ''
    check "1,000 keys, too" seconds 0.02 meta get some.gguf ''
    check "90,000 tensors at most 250 ms" seconds 0.25 tensors info many.gguf ''
    check "and their parts" seconds 0.25 tensors info many.gguf blk.
else
    skip "the time that it takes" "not this build"
fi
check "few names are offered whole" offers_only \
    "blk.99.x.weight" tensors info some.gguf blk.99.x
check "many up to the next dot" offers_only "blk." tensors info many.gguf ''
check "each once" offers_only "$(seq 0 9 | sed 's/.*/blk.&./') $(seq 10 99 | sed 's/.*/blk.&./')" \
    tensors info some.gguf blk.
check "without a space" by_shell "nospace" tensors info many.gguf ''

# ---- every value has a row, or a reason ----

# What an option's value or an operand is called, and why nothing is offered.
# A word that is a kind of number, or names what only the user knows.
nothing_to_offer='
N SIZE RATE X MiB THREADS BITS   a number
N,... N,N,... SIZE,... I/N  numbers
TEXT WORK               any text
NAME                    a name that the model gets
VALUE                   any value
notes,warnings          a list of words
-- --from               what is typed as it is
WORD...                 words of another line
auto|none|mock:WATTS    its words are choices'
every_value() {
    "$modelfile" help --all --json --quiet >"$dir/help.json" || return
    perl -MJSON::PP -e '
        my ($json, $rows, $nothing) = @ARGV;
        local $/;
        open my $in, "<", $json; my $help = decode_json(<$in>);
        open $in, "<", $rows; my $def = <$in>;
        my %row = map { $_ => 1 } $def =~ /^VALUE\("([^"]*)"/mg;
        my %used;
        my %none;
        for (split /\n/, $nothing) {
            my ($words) = split /   +/;
            $none{$_} = 1 for split / /, $words // "";
        }
        my $wrong = 0;
        my $look = sub {
            my ($command, $name, @names) = @_;
            my ($row) = grep { $row{$_} } map { ("$command $_", $_) } @names, $name;
            $used{$row} = 1 if defined $row;
            if (!defined $row && !$none{$name}) {
                print "no row in values.def: $command: $name (@names)\n";
                $wrong = 1;
            }
        };
        for my $command (@{$help->{commands}}, { name => "", options => $help->{options}, operands => "" }) {
            for (split / /, $command->{operands}) {
                my $name = $_;
                $name =~ s/[\[\]]|\.\.\.//g unless $none{$name};
                $look->($command->{name}, $name);
            }
            for my $option (@{$command->{options}}) {
                next if $option->{kind} eq "flag" || $option->{kind} eq "choice";
                $look->($command->{name}, $option->{value}, $option->{name});
            }
        }
        for (sort keys %row) {
            next if $used{$_};
            print "nothing is called $_, which has a row in values.def\n";
            $wrong = 1;
        }
        exit $wrong' "$dir/help.json" cli/commands/complete/values.def "$nothing_to_offer"
}
check "values.def has every value of every option and operand" every_value

# ---- each candidate is accepted ----

wide=$fixtures/llama/llama-wide.gguf matrix=$fixtures/llama/llama-wide.imatrix.dat
# accepted COMMAND WORD... -- MORE...: each candidate for the last word, with
# more words after it.
accepted() {
    : >"$dir/words"
    while [ "$1" != -- ]; do
        printf '%s\n' "$1" >>"$dir/words"
        shift
    done
    shift
    # shellcheck disable=SC2046 # no spaces
    asked $(cat "$dir/words") '' || return
    accepted_count=0
    for each in $(candidates); do
        accepted_count=$((accepted_count + 1))
        # shellcheck disable=SC2046
        (cd "$dir/here" && "$modelfile" $(cat "$dir/words") "$each" "$@" --quiet) \
            >"$dir/said" 2>&1 </dev/null && continue
        # What APR alone has cannot be in GGUF.
        case $each in apr_*) grep -q 'cannot carry' "$dir/said" && continue ;; esac
        echo "$(tr '\n' ' ' <"$dir/words") $each $*:" && cat "$dir/said"
        return 1
    done
    [ "$accepted_count" -gt 1 ]
}
ln -s "$wide" "$dir/here/w.gguf"
check "mixes are accepted" accepted quantize w.gguf - -- --dry-run --imatrix "$matrix"
for option in --output-type --embedding-type; do
    check "types after $option" accepted quantize w.gguf - Q8_0 --dry-run --imatrix "$matrix" $option --
done
for option in --type-k --type-v --as; do
    check "types after plan $option" accepted plan w.gguf $option --
done
check "rules to be ignored" accepted validate m.gguf --ignore --
check "rules to be explained" accepted validate --explain --
check "commands to be explained" accepted help --
check "sub-commands to be explained" accepted help meta --
check "keys to be printed" accepted meta get m.gguf --
check "tensors to be listed" accepted tensors info m.gguf --

# Of an option with choices, all are offered and each is taken.
every_choice() {
    perl -MJSON::PP -e '
        my ($json, $program) = @ARGV;
        local $/;
        open my $in, "<", $json; my $help = decode_json(<$in>);
        my ($wrong, $count) = (0, 0);
        sub lines { open my $run, "-|", @_ or die; my $text = <$run> // ""; close $run; $text }
        for my $command (@{$help->{commands}}) {
            my @words = ($command->{name}, grep { defined } $command->{sub_command});
            for my $option (@{$command->{options}}, @{$help->{options}}) {
                next if $option->{kind} ne "choice";
                my @found = map { (split /\t/)[0] } grep { !/^\t/ }
                    split /\n/, lines($program, "complete", "-q", "--", @words, $option->{name}, "");
                my @wanted = grep { !/[A-Z]$/ } @{$option->{choices}};
                if ("@found" ne "@wanted") {
                    print "@words $option->{name}: @found, not @wanted\n";
                    $wrong = 1;
                }
                $count += @found;
                for my $choice (@found) {
                    next if system("$program @words $option->{name}=$choice --help >/dev/null 2>&1") == 0;
                    print "@words $option->{name}=$choice is refused\n";
                    $wrong = 1;
                }
            }
        }
        exit($wrong || $count < 50)' "$dir/help.json" "$modelfile"
}
check "choices are offered and taken" every_choice
finish
