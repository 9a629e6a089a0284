# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2016,SC2154 # names of apt's; dir: of lib-run.sh
#
# lib-bare.sh - a bare Debian system, in which a test installs what was made
#
#     . tests/lib-run.sh
#     . tests/lib-bare.sh
#
#     cannot_be_bare         says why there can be none, if so
#     bare_system [SUITE]    makes one in $root, from the mirror that apt uses
#                            here; what mmdebstrap says is in $dir/bootstrap
#     inside COMMAND...      runs there, as root
#     inside_other COMMAND...     and as a user who may write nothing

root=$dir/root

cannot_be_bare() {
    if [ "$(id -u)" -ne 0 ]; then
        echo "needs root"
    elif ! command -v mmdebstrap >/dev/null || ! command -v unshare >/dev/null; then
        echo "needs mmdebstrap"
    fi
}

# The mirror may have other suites, but not their updates in the same places.
bare_system() {
    own=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    suite=${1:-$own}
    apt-get indextargets --format \
        '$(ORIGIN) $(ARCHITECTURE) deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
        'Created-By: Packages' |
        sed -n "s/^Debian $(dpkg --print-architecture) //p" | sort -u |
        awk -v own="$own" -v suite="$suite" '
            $3 == own { $3 = suite; print; next }
            suite == own' >"$dir/sources.list"
    rm -rf "$root"
    mmdebstrap --quiet --variant=apt --dpkgopt=force-unsafe-io \
        --skip=cleanup/apt/lists "$suite" "$root" "$dir/sources.list" \
        >"$dir/bootstrap" 2>&1
}

# What is mounted is gone when the command ends.
inside() {
    unshare --mount sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$root" \
        env -i HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

inside_other() {
    inside setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}
