#!/bin/sh
# SPDX-License-Identifier: MIT
#
# terminal.t - nothing that is obeyed or not seen reaches a terminal raw
#
# perl knows from its own copy of the Unicode standard which characters are
# controls, formats, or ignorable.  All of them stand in the names, values and
# paths of a model here; what commands print is looked through for them.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh

modelfile=${MODELFILE:-$PWD/${BUILD:-build}/modelfile}
case $modelfile in /*) ;; *) modelfile=$PWD/$modelfile ;; esac
dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-terminal.XXXXXX")
trap 'rm -rf "$dir"' EXIT

# U+200B, U+FE0F and U+E0041 in a name; in metadata all there are, a piece each.
cat >"$dir/lib.pl" <<'END'
use strict;
use warnings;
use utf8;
use JSON::PP;

# Lines end, and text for people may have tabs.
our $refused = qr/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/;

sub characters {
    my @all;
    for my $code (0 .. 0x10ffff) {
        next if $code >= 0xd800 && $code <= 0xdfff;
        push @all, $code if chr($code) =~ $refused;
    }
    return @all;
}

sub metadata {
    my @all = characters();
    my %metadata = ("k\x{200b}e\x{e0041}y" => "zero\x{200b}width \x{2764}\x{fe0f}");
    while (my @some = splice @all, 0, 400) {
        my $key = sprintf "from-%05x", $some[0];
        $metadata{$key} = join "|", map { chr } @some;
    }
    return \%metadata;
}

sub write_model {
    my ($path) = @_;
    my $header = JSON::PP->new->canonical->utf8->encode({
        __metadata__ => metadata(),
        "a\x{200d}b\x{e0042}\x{ad}" => {
            dtype => "F32", shape => [4], data_offsets => [0, 16] } });
    open my $file, ">:raw", $path or die "$path: $!";
    print $file pack("Q<", length $header), $header, "\0" x 16;
    close $file;
}
1;
END
odd=$(printf 'o\342\200\213d\363\240\201\201d\302\255\357\270\217')
perl -I"$dir" -e 'require "lib.pl"; write_model($ARGV[0])' \
    "$dir/$odd.safetensors" || exit 1

# Standard output and error of a command, with no such character in them.
clean() {
    (cd "$dir" && "$modelfile" "$@" >out 2>&1)
    perl -CSD -I"$dir" -e '
        require "lib.pl";
        our $refused;
        my $lines = 0;
        while (<STDIN>) {
            chomp;
            $lines++;
            s/\t//g;
            next unless /($refused)/;
            printf "line %d has U+%04X\n", $lines, ord $1;
            exit 1;
        }
        exit !$lines' <"$dir/out"
}

model=$odd.safetensors
for words in "detect" "info" "tensors info" "tensors stats" "meta list" \
    "meta list --full" "validate" "hash" "hash --algo sha256" \
    "hash --duplicates" "validate --format junit" "validate --format sarif" \
    "validate --format codequality" \
    "detect --json" "info --json" "tensors --json" "meta list --json --full" \
    "validate --json" "hash --json" "plan" "plan --json" "plan --fit 1G"; do
    # shellcheck disable=SC2086 # the words of a command
    check "$words" clean $words "$model"
done
check "diff" clean diff "$model" "$PWD/fixtures/good-base.safetensors"
base=$PWD/fixtures/good-base.safetensors
check "verify" clean verify "$model" --from "$base"
check "verify, with such a source" clean verify "$base" --from "$model" --json
check "a statement" clean verify "$model" --from "$model" --statement -
check "convert" clean convert "$model" "$odd.gguf"
check "OUT exists" clean convert "$model" "$odd.gguf"
check "a GGUF of that name" clean info "$odd.gguf"
check "a file that is not there" clean info "x$odd"
check "a folder" clean validate "$dir"
check "a command" clean "$odd"
check "an option" clean info "--$odd" "$model"
check "an option's value" clean tensors --sort "$odd" "$model"
check "a pattern" clean tensors "$model" "$odd"
check "a key" clean meta get "$model" "$odd"
check "a key that is there" clean meta get "$model" \
    "$(printf 'k\342\200\213e\363\240\201\201y')"
check "a change" clean meta set "$model" "$odd=1" --dry-run
check "a type of the cache" clean plan "$model" --type-k "$odd"
check "a list of contexts" clean plan "$model" --ctx "$odd"
check "a picture that cannot be written" clean plan "$PWD/fixtures/good-llama.gguf" \
    --plot "$odd/$odd.svg"
check "a manifest" clean hash --check "$odd" "$model"

# JSON gives every character back.
exact() {
    (cd "$dir" && "$modelfile" meta list --json --full "$model") |
        perl -I"$dir" -e '
            require "lib.pl";
            local $/;
            my $meta = metadata();
            my $said = JSON::PP->new->utf8->decode(<STDIN>)->{files}[0]{metadata};
            for my $each (@$said) {
                my $value = delete $meta->{$each->{key}};
                die "$each->{key} is not what was written\n"
                    unless defined $value && $value eq $each->{value};
            }
            die "some keys are missing\n" if %$meta;'
}
check "JSON stays exact" exact

# And so does a manifest, which is read again.
checked() {
    (cd "$dir" && "$modelfile" hash --quiet "$model" >manifest &&
        "$modelfile" hash --quiet --check manifest "$model")
}
check "names of a manifest are found again" checked
finish
