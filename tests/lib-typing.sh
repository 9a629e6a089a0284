# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # variables of lib-run.sh
#
# lib-typing.sh - shells in a terminal, and keys that are typed
#
#     . tests/lib-run.sh
#     . tests/lib-typing.sh
#
#     shell_begin SHELL    bash, zsh or fish, in the folder $dir/here, with the
#                          completions of this tree; fails if there is none
#     typed KEYS           types, and has what is on the line then in $line; a
#                          key is \t, or \024 (Ctrl-T): all candidates at once
#     shell_end
#
# Ctrl-G writes the line to a pipe, and empties it.

# What each shell reads when it begins.
typing_rc() {
    mkdir -p "$dir/here" "$dir/rc/fish" "$dir/bin"
    ln -sf "$modelfile" "$dir/bin/modelfile"
    cat >"$dir/rc/bashrc" <<END
PS1='> '
bind 'set completion-query-items 0'
bind 'set page-completions off'
bind 'set bell-style none'
bind 'set enable-bracketed-paste off'
bind '"\\C-t": insert-completions'
dump() { printf '%s\\0' "\$READLINE_LINE" >'$dir/line'; READLINE_LINE= READLINE_POINT=0; }
bind -x '"\\C-g": dump'
. '$PWD/cli/complete/modelfile.bash'
END
    cat >"$dir/rc/.zshrc" <<END
PS1='> ' LISTMAX=1000000
setopt no_beep no_auto_menu
fpath=('$PWD/cli/complete' \$fpath)
autoload -Uz compinit && compinit -u -d '$dir/rc/dump'
dump() { { print -rn -- "\$BUFFER"; printf '\\0' } >'$dir/line'; BUFFER= }
zle -N dump && bindkey '^G' dump
every() { _main_complete; compstate[insert]=all }
zle -C every complete-word every && bindkey '^T' every
END
    cat >"$dir/rc/fish/config.fish" <<END
set fish_greeting
function fish_prompt; echo '> '; end
function dump
    begin
        commandline -b | string collect
        printf '\\0'
    end >'$dir/line'
    commandline -r ''
end
bind \\cg dump
source '$PWD/cli/complete/modelfile.fish'
END
}

typing_command() { # SHELL
    case $1 in
    bash) echo "bash --noprofile --rcfile '$dir/rc/bashrc' -i" ;;
    zsh) echo "zsh -i" ;;
    fish) echo "fish -i" ;;
    esac
}

shell_begin() { # SHELL
    command -v script >/dev/null 2>&1 && command -v "$1" >/dev/null 2>&1 || return
    [ -d "$dir/rc" ] || typing_rc
    rm -f "$dir/keys" "$dir/line"
    mkfifo "$dir/keys" "$dir/line"
    (
        cd "$dir/here" || exit
        PATH=$dir/bin:$PATH HOME=$dir/here ZDOTDIR=$dir/rc \
            XDG_CONFIG_HOME=$dir/rc XDG_DATA_HOME=$dir/rc TERM=xterm LC_ALL=C.UTF-8 \
            exec script -qec "$(typing_command "$1")" /dev/null \
            <"$dir/keys" >"$dir/screen" 2>&1
    ) &
    typing_shell=$!
    exec 8>"$dir/keys"
    # It reads its keys when it shows the prompt.
    typing_wait "until grep -q '>' '$dir/screen' 2>/dev/null"
}

# typing_wait CONDITION: at most 30 s.
typing_wait() {
    typing_rounds=0
    eval "$1; do
        typing_rounds=\$((typing_rounds + 1))
        [ \$typing_rounds -lt 600 ] || return 1
        sleep 0.05
    done"
}

# The shell opens the pipe once for each line, and the line ends when it closes it.
typed() { # KEYS
    # shellcheck disable=SC2059 # it has escapes
    printf "$1\007" >&8
    timeout 30 cat "$dir/line" >"$dir/typed" || {
        line='(no answer)'
        return 1
    }
    line=$(tr -d '\0' <"$dir/typed")
}

shell_end() {
    exec 8>&-
    wait "$typing_shell" 2>/dev/null
}
