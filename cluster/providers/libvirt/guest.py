"""What the golden image holds besides Debian's packages, and the packages. Pure texts.

At boot `study-seed` unpacks the seed disk over the root: name, addresses, keys. It runs once, before
the network and sshd, so no guest ever answers under another's name or key.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

USER = "study"
UID = 1000
DATA = "/study"
"""Where a guest's data disk is mounted; it holds everything a build writes."""
ROOT_LABEL = "study-root"
SUITE = "bookworm"
JAVA_HOME = "/usr/lib/jvm/java-17-openjdk-amd64"
PACKAGES = (
    "systemd-sysv",
    "udev",
    "dbus",
    "linux-image-cloud-amd64",
    "initramfs-tools",
    "zstd",
    "openssh-server",
    "openjdk-17-jre-headless",
    "python3",
    "iproute2",
    "iptables",
    "chrony",
    "procps",
    "kmod",
    "e2fsprogs",
    "sudo",
)

_SEED = """\
#!/bin/sh
# Name, addresses and keys of this guest; then its data disk.
set -e
disks=/dev/disk/by-id
tar -x -f "$disks/virtio-seed" -C / --numeric-owner --no-overwrite-dir
chown study:study /home/study/.ssh
chmod 700 /home/study/.ssh
hostname -F /etc/hostname
if ! blkid "$disks/virtio-data" >/dev/null; then
    # No lazy initialisation: it would write in the background while we measure.
    mkfs.ext4 -q -i 262144 -m 0 -E lazy_itable_init=0,lazy_journal_init=0,nodiscard \\
        "$disks/virtio-data"
fi
mkdir -p /study
mount -o noatime "$disks/virtio-data" /study
chown study:study /study
modprobe -q ptp_kvm || true  # the host's clock, under KVM
"""
_UNIT = """\
[Unit]
Description=Name, addresses, keys and data disk of this guest
DefaultDependencies=no
Requires=dev-disk-by\\x2did-virtio\\x2dseed.device dev-disk-by\\x2did-virtio\\x2ddata.device
After=dev-disk-by\\x2did-virtio\\x2dseed.device dev-disk-by\\x2did-virtio\\x2ddata.device
After=local-fs.target
Wants=network-pre.target
Before=network-pre.target systemd-networkd.service ssh.service sysinit.target

[Service]
Type=oneshot
RemainAfterExit=yes
StandardError=journal+console
ExecStart=/usr/local/sbin/study-seed

[Install]
WantedBy=sysinit.target
"""
_SSHD = """\
HostKey /etc/ssh/ssh_host_ed25519_key
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin no
AllowUsers study
UseDNS no
"""
_CHRONY = """\
driftfile /var/lib/chrony/chrony.drift
makestep 0.1 3
# The host's clock, where the hypervisor offers it.
refclock PHC /dev/ptp0 poll 2
"""

FILES: Mapping[str, tuple[int, str]] = MappingProxyType(
    {
        "/usr/local/sbin/study-seed": (0o755, _SEED),
        "/etc/systemd/system/study-seed.service": (0o644, _UNIT),
        "/etc/ssh/sshd_config": (0o644, _SSHD),
        "/etc/sudoers.d/study": (0o440, f"{USER} ALL=(ALL) NOPASSWD: ALL\n"),
        "/etc/fstab": (0o644, f"LABEL={ROOT_LABEL} / ext4 defaults,noatime 0 1\n"),
        "/etc/chrony/chrony.conf": (0o644, _CHRONY),
        "/etc/systemd/system/chrony.service.d/study.conf": (
            0o644,
            "[Unit]\nConditionPathExists=/dev/ptp0\n",
        ),
        "/etc/machine-id": (0o444, ""),
        "/etc/resolv.conf": (0o644, ""),
    }
)
"""Path -> (mode, text). The machine-id is empty: each clone gets its own at its first boot."""
EARLY_FILES: Mapping[str, tuple[int, str]] = MappingProxyType(
    {
        "/etc/initramfs-tools/conf.d/study": (0o644, "MODULES=list\n"),
        "/usr/share/initramfs-tools/modules.d/study": (
            0o644,
            "virtio_pci\nvirtio_blk\next4\ncrc32c_generic\n",
        ),
    }
)
"""There before the kernel's package is: a small initrd, made once, boots fast under emulation."""
ENABLED = ("study-seed.service", "systemd-networkd.service", "ssh.service")
MASKED = (
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "dpkg-db-backup.timer",
    "e2scrub_all.timer",
    "e2scrub_reap.service",
    "fstrim.timer",
    "systemd-timesyncd.service",
    "getty@tty1.service",
    "serial-getty@ttyS0.service",
    "systemd-resolved.service",
    "systemd-networkd-wait-online.service",
    "systemd-pstore.service",
    "systemd-logind.service",
    "kmod-static-nodes.service",
    "dev-hugepages.mount",
    "dev-mqueue.mount",
    "sys-kernel-debug.mount",
    "sys-kernel-tracing.mount",
    "sys-kernel-config.mount",
    "sys-fs-fuse-connections.mount",
    "modprobe@configfs.service",
    "modprobe@dm_mod.service",
    "modprobe@drm.service",
    "modprobe@efi_pstore.service",
    "modprobe@fuse.service",
    "modprobe@loop.service",
)
"""Nothing may wake up by itself inside a measuring window, and what nobody needs shall not delay a boot
under emulation."""
