# SPDX-License-Identifier: MIT
#
# manual.pl - what the pages of the manual lack of what they are made from
#
#     perl manual.pl commands HELP.JSON PAGES          pages of section 1
#     perl manual.pl header modelfile.h PAGES          pages of section 3
#     perl manual.pl names PAGE <NAMES                 tags and headings
#     perl manual.pl links PAGES                       names of other pages
#     perl manual.pl examples HELP.JSON PAGES FOLDER   a file for each example
#
# PAGES: a folder with man1, man3 and man7, in which pages are sources; or with
# man1.txt ..., in which they are rendered.  Prints a line for each fault.
use strict;
use warnings;
use JSON::PP;

my $faults = 0;

sub fault {
    print join(" ", @_), "\n";
    $faults++;
}

sub slurp {
    open my $in, "<:raw", $_[0] or die "$_[0]: $!\n";
    local $/;
    my $text = <$in>;
    return $text // "";
}

# The text of a source: what a reader sees of each line, indented as there.
sub plain {
    my ($text) = @_;
    my %named = (aq => "'", ga => "`", dq => '"', ha => "^", ti => "~");
    my @lines = split /\n/, $text;
    for (@lines) {
        my $indent = /^\.SH/ ? "" : /^\.SS/ ? "   " : "       ";
        s/^\.(?:SH|SS|B|TH) // or s/^\.BR (\S+) (\(\d\)\S*)/$1$2/ or s/^\.[A-Za-z]+.*//;
        s/\\f[BIR]//g;
        s/^\\&//;
        s/\\\((..)/$named{$1} \/\/ "?"/ge;
        s/\\e/\0/g;
        s/\\-/-/g;
        s/\\(.)/?/g;
        s/\0/\\/g;
        $_ = "$indent$_";
    }
    return join "\n", @lines;
}

sub page {
    my ($pages, $name, $section) = @_;
    my $rendered = "$pages/man$section.txt/$name.$section";
    my $source = "$pages/man$section/$name.$section";
    return slurp($rendered) if -e $rendered;
    return plain(slurp($source)) if -e $source;
    fault("no page $name($section)");
    return "";
}

# One space between words.
sub words {
    my $text = join " ", split " ", $_[0];
    return $text;
}

sub part_of {
    my ($page, $heading) = @_;
    return $page =~ /^\Q$heading\E\n(.*?)(?=^[A-Z][A-Z ]+\n|\z)/ms ? $1 : "";
}

# As a man page has it, backticks are bold.
sub shown {
    my ($text) = @_;
    $text =~ s/`//g;
    return words($text);
}

sub has {
    my ($page, $what, $text) = @_;
    fault("no", $what) if index(words($page), $text) < 0;
}

sub has_tag {
    my ($page, $what, $tag) = @_;
    fault("no $what '$tag'") if $page !~ /^ *(?:-., )?\Q$tag\E(?: |$)/m;
}

# ---- commands ----

sub option_tag {
    my ($option) = @_;
    my $name = $option->{name};
    return $name if $option->{kind} eq "flag";
    return "$name " . join "|", @{$option->{choices}} if $option->{kind} eq "choice";
    return "$name\[=$option->{value}]" if $option->{kind} eq "text_or_none";
    return "$name $option->{value}";
}

sub options {
    my ($page, $name, $options) = @_;
    for (@$options) {
        has($page, "option of $name: $_->{name}", option_tag($_));
        has($page, "text of $name $_->{name}", shown($_->{help}));
        my $letter = { "--help" => "-h", "--quiet" => "-q", "--threads" => "-t" }->{$_->{name}};
        has($page, "letter of $name $_->{name}", "$letter, $_->{name}") if $letter;
    }
}

# What the page has and the rows have not.
sub no_more_options {
    my ($part, $name, @known) = @_;
    my %known = map { $_->{name} => 1 } @known;
    while ($part =~ /^ *(?:-., )?(--[a-z0-9-]+)/mg) {
        my $option = $1;
        fault("$name has no option $option") if !$known{$option} && $part =~ /^ {0,7}(?:-., )?$option/m;
    }
}

sub page_name {
    my ($command) = @_;
    return join "-", "modelfile", $command->{name}, grep { defined } $command->{sub_command};
}

# Lines of an example, as the page has them, from its folded lines.
sub page_examples {
    my ($page) = @_;
    my (@examples, $remark);
    my $part = part_of($page, "EXAMPLES");
    my ($margin) = $part =~ /^( *)\S/m;
    for (split /\n/, $part) {
        s/^$margin//;
        next if /^\s*$/;
        if (/^# (.*)/) {
            $remark = $1;
        } elsif (@examples && $examples[-1]{text} =~ /\\\z/) {
            $examples[-1]{text} .= "\n$_";
        } else {
            push @examples, { text => $_, remark => $remark };
            $remark = undef;
        }
    }
    return @examples;
}

sub commands {
    my ($json, $pages) = @_;
    my $help = decode_json(slurp($json));
    my $main = page($pages, "modelfile", 1);
    my %meaning = map { $_->{code} => $_->{meaning} } @{$help->{exit_codes}};
    for my $command (@{$help->{commands}}) {
        my $name = page_name($command);
        my $words = $name =~ s/-/ /gr;
        my $page = page($pages, $name, 1);
        has(part_of($page, "NAME"), "summary of $name", shown("$name - $command->{summary}"));
        has(part_of($page, "SYNOPSIS"), "synopsis of $name",
            words("$words [OPTION...] $command->{operands}"));
        fault("no description of $name") if length part_of($page, "DESCRIPTION") < 60;
        has($page, "other words for $name", "Also typed: " . join(", ", @{$command->{words}}) . ".")
            if @{$command->{words}};
        my $part = part_of($page, "OPTIONS");
        options($part, $name, [@{$command->{options}}, @{$help->{options}}]);
        no_more_options($part, $name, @{$command->{options}}, @{$help->{options}});
        my $codes = part_of($page, "EXIT STATUS");
        for (@{$command->{exit_codes}}) {
            has_tag($codes, "exit code of $name", $_);
            has($codes, "meaning of exit code $_ of $name", $meaning{$_}) if $_ != 1;
        }
        my @found = map { words($_->{text} =~ s/ \\\n//gr) } page_examples($page);
        my @wanted = map { words(s/ {3,}.*//r) } @{$command->{examples}};
        fault("examples of $name: @found, not @wanted") if "@found" ne "@wanted";
        has($main, "command $words in modelfile(1)",
            shown(join(" ", grep { length } $words =~ s/^modelfile //r, $command->{operands}) . " $command->{summary}"))
            unless $command->{name} eq "complete";
    }
    options(part_of($main, "OPTIONS"), "modelfile", $help->{options});
    no_more_options(part_of($main, "OPTIONS"), "modelfile", @{$help->{options}});
    has_tag(part_of($main, "EXIT STATUS"), "exit code", $_) for keys %meaning;
    has(part_of($main, "EXIT STATUS"), "meaning of exit code", $_) for values %meaning;
}

# ---- the header ----

# Comments without their stars.
sub comment_text {
    my ($text) = @_;
    $text =~ s/^\s*\* ?//mg;
    return $text;
}

sub header {
    my ($header, $pages) = @_;
    my ($top, @parts) = split m{^/\* ---- (.*?) -+ \*/\n}m, slurp($header);
    my %count = (functions => 0, structs => 0, values => 0, members => 0);
    while (my ($title, $text) = splice @parts, 0, 2) {
        my $name = "modelfile-" . lc($title =~ s/[^A-Za-z0-9]+/-/gr);
        my $page = page($pages, $name, 3);
        my $all = words($page);
        $text =~ s/^#if.*|^#e.*|^}$//mg;
        while ($text =~ /^MF_API [^;(]*?(\w+)\(/mg) {
            my $function = $1;
            $count{functions}++;
            fault("$function is not in $name(3)") if $page !~ /\Q$function\E\(/;
            my $link = "$pages/man3/$function.3";
            fault("$function.3 is no link to $name.3")
                if -d "$pages/man3" && (readlink($link) // "") ne "$name.3";
        }
        while ($text =~ /^(struct|enum) (\w+) \{\n(.*?)^\};/msg) {
            my ($kind, $what, $body) = ($1, $2, $3);
            $count{structs}++;
            fault("$kind $what is no heading of $name(3)") if $page !~ /^ *\Q$kind $what\E$/m;
            $body =~ s{/\*.*?\*/}{}sg;
            if ($kind eq "enum") {
                while ($body =~ /(MF_\w+)/g) {
                    $count{values}++;
                    fault("$1 is no tag of $name(3)") if $page !~ /^ *\Q$1\E(?: |$|,)/m;
                }
                next;
            }
            for (split /;/, $body) {
                my $member = words($_);
                next if $member eq "" || $member eq "}" || /[{}]/;
                $count{members}++;
                fault("$what: $member is not in $name(3)") if index($all, "$member;") < 0;
            }
        }
        # What is said, sentence by sentence.
        while ($text =~ m{/\*(.*?)\*/}sg) {
            for my $sentence (split /(?<=[.:;]) +|\n\n/, words(comment_text($1))) {
                fault("not in $name(3): $sentence") if index($all, $sentence) < 0;
            }
        }
    }
    fault("few: ", map { "$_ $count{$_} " } sort keys %count)
        if $count{functions} < 100 || $count{structs} < 40 || $count{values} < 50 || $count{members} < 200;
}

# ---- names and links ----

sub names {
    my ($page) = @_;
    my $text = $page =~ /txt\// ? slurp($page) : plain(slurp($page));
    chomp(my @names = <STDIN>);
    fault("few names") if @names < 10;
    for (@names) {
        fault("$page lacks $_") if $text !~ /^ *\Q$_\E(?: \(|$| )/m;
    }
}

sub links {
    my ($pages) = @_;
    my $count = 0;
    for my $path (glob "$pages/man[137]/*") {
        if (-l $path && !-e $path) {
            fault("$path leads nowhere");
        }
        next if -l $path;
        my $text = plain(slurp($path));
        while ($text =~ /\b(modelfile(?:-[a-z-]*[a-z])?) ?\((\d)\)/g) {
            $count++;
            fault("$path names $1($2)") if !-e "$pages/man$2/$1.$2";
        }
    }
    fault("few links: $count") if $count < 100;
}

# ---- examples ----

# NUMBER.sh is what the page says, NUMBER.name the example on one line; a
# command that does not do the same twice is only NUMBER.once.
sub examples {
    my ($json, $pages, $folder) = @_;
    my $number = 100;
    for my $command (@{decode_json(slurp($json))->{commands}}) {
        for (page_examples(page($pages, page_name($command), 1))) {
            $number++;
            for my $part ([ "sh", "$_->{text}\n" ], [ "name", words($_->{text} =~ s/\\\n//gr) . "\n" ]) {
                open my $out, ">:raw", "$folder/$number.$part->[0]" or die $!;
                print $out $part->[1];
                close $out;
            }
        }
    }
}

my %does = (commands => \&commands, header => \&header, names => \&names,
    links => \&links, examples => \&examples);
my $what = shift;
$does{$what}->(@ARGV);
exit($faults > 0);
