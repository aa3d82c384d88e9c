#!/usr/bin/env bash
# Runs a command in a fresh clone of this checkout on a minimal Debian 12, or $SUITE: `tests/fresh/debian.sh make test`.
# Only the packages of README's first apt-get line are installed. As root; needs mmdebstrap (`make packages-fresh`).
# The command itself runs as an ordinary user, except `make test`, which makes hosts of its own as root.
# After `--image`, it runs in a container of docs/Containerfile, which buildah builds as an ordinary user (`make packages-image`).
# Registries are reached as this machine reaches them. Mounts and processes live in namespaces that end
# with this script, even by SIGKILL; its folder below /var/tmp is removed then.
set -euo pipefail

checkout=$(cd "$(dirname "$0")/../.." && pwd)
path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
home=/home/study
as=(setpriv --reuid 1000 --regid 1000 --clear-groups env -i PATH=$path)

outside() {
    root=$(mktemp -d /var/tmp/density-study-fresh.XXXXXX)
    mkfifo "$root/alive"
    exec {alive}<>"$root/alive"
    # Reads until all who hold $alive have ended, whatever ended them.
    setsid sh -c 'cat; until rm -rf "$0"; do sleep 1; done' "$root" <"$root/alive" {alive}>&- &
    cleaner=$!
    setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc \
        "$0" --inside "$root" "$@" &
    child=$!
    trap 'kill -KILL "$child" 2>/dev/null || true; exec {alive}>&-; wait "$cleaner"' EXIT
    trap 'exit 143' INT TERM HUP
    wait "$child"
}

# As the first process of the namespaces. Writes only below $1.
inside() {
    root=$1 base=$1/base
    mapfile -t reached < <(reached)
    if [ "$2" = --image ]; then
        minimal trixie
        in_image "${@:3}"
    else
        read -r _ _ packages < <(grep -m1 -o 'apt-get install [a-z0-9 .+-]*' "$checkout/README.md")
        minimal "${SUITE:-bookworm}" --include="${packages// /,}"
        in_clone "${@:2}"
    fi
}

reached() { env | grep -E '^([A-Za-z]+_proxy|PIP_|UV_|SSL_CERT_|REQUESTS_CA_BUNDLE=)'; }

# Debian in $base; as in Debian's images, dpkg does not wait for the disk. New users find the settings of Maven in their homes.
minimal() {
    mmdebstrap --quiet --variant=minbase --mode=root --aptopt='APT::Install-Recommends "false"' --dpkgopt=force-unsafe-io \
        "${@:2}" "$1" "$base"
    for file in /etc/hosts /etc/pip.conf /etc/ssl/certs /usr/local/share/ca-certificates; do
        [ ! -e "$file" ] || { mkdir -p "$base${file%/*}" && cp -a "$file" "$base${file%/*}/"; }
    done
    for file in /etc/maven/settings.xml ~/.m2/settings.xml; do
        [ ! -e "$file" ] || install -D -m 644 "$file" "$base/etc/skel/.m2/settings.xml"
    done
}

in_clone() {
    [ "$*" != "make test" ] || { home=/root as=(env -i PATH=$path); }
    mkdir -p "$base$home"
    cp -a "$base/etc/skel/." "$base$home"
    git clone --quiet --no-hardlinks "$checkout" "$base$home/density-study"
    [ $home = /root ] || { echo 'study:x:1000:1000::/home/study:/bin/sh' >> "$base/etc/passwd"; chown -R 1000:1000 "$base$home"; }
    mount --bind "$base" "$base"
    cd "$base"
    for tree in dev sys; do mount --rbind "/$tree" "$tree"; done
    mount -t proc proc proc
    mount -t tmpfs tmpfs dev/shm
    mount -t tmpfs tmpfs run
    pivot_root . .
    umount -l .
    cd "$home/density-study"
    "${as[@]}" HOME="$home" "${reached[@]}" "$@"
}

# Within these mounts, the machine has one ordinary user, who owns subordinate ids.
in_image() {
    cd "$root"
    git clone --quiet --no-hardlinks "$checkout" clone
    tar --create --file clone/base.tar --directory base --exclude './dev/*' .
    mkdir home run tmp
    chown -R 1000:1000 clone home run tmp
    chmod 711 .
    printf '%s\n' root:x:0:0::/root:/bin/sh "study:x:1000:1000::$root/home:/bin/sh" > passwd
    printf '%s\n' root:x:0: study:x:1000: > group
    for file in subuid subgid; do echo study:2000000000:65536 > $file; done
    for file in passwd group subuid subgid; do mount --bind $file /etc/$file; done
    cd clone
    "${as[@]}" HOME="$root/home" XDG_RUNTIME_DIR="$root/run" TMPDIR="$root/tmp" BUILDAH_ISOLATION=chroot \
        STORAGE_DRIVER="${STORAGE_DRIVER:-overlay}" "${reached[@]}" \
        bash -euc "$(declare -f reached build); build \"\$@\"" build "$@"
}

# As that user, in the clone. No registry has the base, but this folder. Under buildah, 1,024 files are the preset.
build() {
    container=$(buildah from scratch)
    buildah add --quiet "$container" base.tar /
    while read -r pair; do buildah config --env "$pair" "$container"; done < <(reached)
    buildah commit --quiet --rm "$container" debian:13
    rm base.tar
    buildah build --pull-never --file docs/Containerfile --tag density-study .
    buildah run "$(buildah from --pull-never --ulimit nofile=4096:4096 density-study)" -- "$@"
}

[ $# -gt 0 ] || set -- make test
if [ "$1" = --inside ]; then inside "${@:2}"; else outside "$@"; fi
