#!/usr/bin/env bash
# Runs a command in a fresh clone of this checkout on a minimal Debian 12, or $SUITE: `tests/fresh/debian.sh make test`.
# Only the packages of README's first apt-get line are installed. As root; needs mmdebstrap (`make packages-fresh`).
# The command itself runs as an ordinary user, except `make test`, which makes hosts of its own as root.
# Registries are reached as this machine reaches them. Mounts and processes live in namespaces that end
# with this script, even by SIGKILL; its folder below /var/tmp is removed except by SIGKILL.
set -euo pipefail

checkout=$(cd "$(dirname "$0")/../.." && pwd)

outside() {
    root=$(mktemp -d /var/tmp/density-study-fresh.XXXXXX)
    trap 'kill -KILL "$child" 2>/dev/null || true; wait; until rm -rf "$root"; do sleep 1; done' EXIT
    trap 'exit 143' INT TERM HUP
    setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc \
        "$0" --inside "$root" "$@" &
    child=$!
    wait "$child"
}

# As the first process of the namespaces. Writes only below $1.
inside() {
    root=$1
    shift
    read -r _ _ packages < <(grep -m1 -o 'apt-get install [a-z0-9 .+-]*' "$checkout/README.md")
    mmdebstrap --quiet --variant=minbase --mode=root --aptopt='APT::Install-Recommends "false"' \
        --include="${packages// /,}" "${SUITE:-bookworm}" "$root"
    home=/home/study as=(setpriv --reuid 1000 --regid 1000 --clear-groups)
    [ "$*" != "make test" ] || { home=/root as=(); }
    git clone --quiet "$checkout" "$root$home/density-study"
    for file in /etc/hosts /etc/pip.conf /etc/ssl/certs /etc/maven/settings.xml; do
        [ ! -e "$file" ] || { mkdir -p "$root${file%/*}" && cp -a "$file" "$root${file%/*}/"; }
    done
    [ ! -e ~/.m2/settings.xml ] || install -D ~/.m2/settings.xml "$root$home/.m2/settings.xml"
    [ $home = /root ] || { echo 'study:x:1000:1000::/home/study:/bin/sh' >> "$root/etc/passwd"; chown -R 1000:1000 "$root$home"; }
    mount --bind "$root" "$root"
    cd "$root"
    for tree in dev sys; do mount --rbind "/$tree" "$tree"; done
    mount -t proc proc proc
    mount -t tmpfs tmpfs dev/shm
    mount -t tmpfs tmpfs run
    pivot_root . .
    umount -l .
    cd "$home/density-study"
    mapfile -t reached < <(env | grep -E '^([A-Za-z]+_proxy|PIP_|UV_|SSL_CERT_|REQUESTS_CA_BUNDLE=)')
    "${as[@]}" env -i HOME="$home" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        "${reached[@]}" "$@"
}

if [ "${1:-}" = --inside ]; then inside "${@:2}"; else outside "${@:-make test}"; fi
