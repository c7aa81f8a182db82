#!/bin/sh
# Measures the time of contrib/demo.sh on a fresh Debian 12 with an empty compiler cache. Needs root and debootstrap.
#
#   bench/house/demo_in_chroot.sh [DIR]   DIR: an empty or missing folder for the system (default: a temporary one, removed at the end)
#
# Uses the package mirror of this machine. Installation of packages is timed separately; then the demo runs as a separate user and is
# timed. Prints "packages SECONDS", "demo SECONDS" and the statistics of the compiler cache.
set -eu
cd "$(dirname "$0")/../.."
top=$(pwd)

mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
  sed -n -e 's/^deb  *\(\[[^]]*\] *\)\{0,1\}\([^ ]*\).*/\2/p' -e 's/^URIs: *\([^ ]*\).*/\1/p' | grep -v security | head -n 1)
[ -n "$mirror" ] || { echo "demo_in_chroot.sh: no mirror in /etc/apt/sources.list*" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "demo_in_chroot.sh: install debootstrap" >&2; exit 1; }

temporary=false
if [ $# -gt 0 ]; then root=$1; else root=$(mktemp -d); temporary=true; fi
mounted=
clean_up() {
  status=$?
  trap - EXIT INT TERM
  for at in $mounted; do umount "$at" || umount -l "$at"; done
  if $temporary && ! grep -q " $root/" /proc/mounts; then rm -rf --one-file-system "$root"; fi
  exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir -p "$root"
chmod 755 "$root"

debootstrap --variant=minbase --include=ca-certificates,sudo bookworm "$root" "$mirror" >"$root.log" 2>&1 || { tail -n 20 "$root.log" >&2; exit 1; }
rm -f "$root.log"
# Use the apt configuration of this machine, with its proxies and certificates.
cp -a /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
cp /etc/resolv.conf "$root/etc/resolv.conf"
for what in proc sys dev dev/pts dev/shm; do
  mkdir -p "$root/$what"
  mount --bind "/$what" "$root/$what"
  mounted="$root/$what $mounted"
done

# A fresh clone of the commits, without build folders.
git clone -q --no-hardlinks "$top" "$root/srv/ares"
in_chroot() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@"; }
in_chroot sh -c 'useradd -m demo && chown -R demo /srv/ares && echo "demo ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/demo'

# timed NAME COMMAND...: prints the duration in seconds. The output goes to a file, whose end is printed if the command fails.
timed() {
  name=$1
  shift
  before=$(date +%s)
  "$@" >"$root/tmp/$name.log" 2>&1 || { tail -n 40 "$root/tmp/$name.log" >&2; echo "demo_in_chroot.sh: $name failed" >&2; exit 1; }
  echo "$name $(($(date +%s) - before))"
}
timed packages in_chroot sh -c 'apt-get update -q && cd /srv/ares && contrib/deps.sh'
timed demo in_chroot sudo -u demo -H sh -c 'cd /srv/ares && contrib/demo.sh'
in_chroot sudo -u demo -H sh -c 'ccache --show-stats 2>/dev/null || true'
