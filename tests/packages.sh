#!/bin/sh
# Debian packages that tests need beside those README names: `tests/packages.sh test|live|vm|fresh|image...`.
# As root they are installed; otherwise the command that installs them is printed, exit code 2.
# Each need is PROGRAM=PACKAGE[,PACKAGE], or LIBRARY.so.N=PACKAGE.
set -eu
PATH=$PATH:/usr/sbin:/sbin

# program=package,package
hosts="ip=iproute2 nft=nftables ssh=openssh-client sshd=openssh-server sudo=sudo mkfs.ext4=e2fsprogs runc=runc" # only root makes hosts
needs=
for target; do case $target in
    test) needs="$needs chromium=chromium curl=curl openssl=openssl libatomic.so.1=libatomic1 ps=procps ssh-keygen=openssh-client"
        [ "$(id -u)" -ne 0 ] || needs="$needs $hosts" ;;
    live) needs="$needs ps=procps pg_createcluster=postgresql redis-server=redis-server curl=curl
        prometheus=prometheus prometheus-node-exporter=prometheus-node-exporter krb5kdc=krb5-kdc
        kadmin.local=krb5-admin-server kinit=krb5-user faketime=faketime openssl=openssl bwa=bwa
        samtools=samtools bcftools=bcftools dwgsim=dwgsim $hosts" ;;
    vm) needs="$needs ip=iproute2 ssh=openssh-client libvirtd=libvirt-daemon-system,libvirt-daemon-driver-qemu
        virsh=libvirt-clients qemu-system-x86_64=qemu-system-x86 qemu-img=qemu-utils mmdebstrap=mmdebstrap
        mke2fs=e2fsprogs" ;;
    fresh) needs="$needs mmdebstrap=mmdebstrap" ;;
    image) needs="$needs mmdebstrap=mmdebstrap buildah=buildah newuidmap=uidmap" ;;
    *) echo "error: $target is none of test, live, vm, fresh and image" >&2; exit 2 ;;
esac; done

packages=
for need in $needs; do
    case $need in
        lib*.so.*) case $(ldconfig -p) in *"${need%%=*}"*) ;; *) false ;; esac ;; # for Playwright
        *) command -v "${need%%=*}" >/dev/null ;;
    esac || for package in $(echo "${need#*=}" | tr , ' '); do
        case "$packages " in *" $package "*) ;; *) packages="$packages $package" ;; esac
    done
done
[ -n "$packages" ] || exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "error: the tests need more programs; as root: apt-get install$packages" >&2
    exit 2
fi
echo "installing Debian packages:$packages"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # a list
apt-get install -y -qq --no-install-recommends $packages >/dev/null
