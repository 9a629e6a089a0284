# SPDX-License-Identifier: MIT
#
# gguf_names.pl - a GGUF file whose keys, and whose tensors, have names as wanted
#
#     perl gguf_names.pl FILE <names
#
# Names end with a NUL each.
use strict;
use warnings;

sub text { return pack("Q<", length $_[0]) . $_[0] }

local $/ = "\0";
binmode STDIN;
my @names = <STDIN>;
chomp @names;
my $header = "GGUF" . pack("L< Q< Q<", 3, scalar @names, 1 + @names);
$header .= text("general.architecture") . pack("L<", 8) . text("none");
$header .= text($_) . pack("L< L<", 4, 1) for @names;
my $at = 0;
for (@names) {
    $header .= text($_) . pack("L< Q< L< Q<", 1, 8, 0, $at);
    $at += 32;
}
$header .= "\0" x (-length($header) % 32);
open my $file, ">:raw", $ARGV[0] or die "$ARGV[0]: $!";
print $file $header, "\0" x $at;
close $file or die;
