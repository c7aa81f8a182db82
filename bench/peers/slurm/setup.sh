#!/bin/sh
# Installs Debian's own Slurm and MariaDB for the comparison, and starts no service. Does nothing, and says nothing, when all is there.
#
#   bench/peers/slurm/setup.sh
#
# Runs as root, or uses sudo. The harness starts private daemons of its own; nothing below /etc is configured.
set -eu

# mariadb-server-core is the server without the service that mariadb-server would bring.
packages="slurmctld slurmd slurmdbd slurm-client slurm-wlm-basic-plugins libslurm-dev mariadb-server-core mariadb-client-core munge gcc libc6-dev"

if [ "${1-}" = --help ]; then sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 0; fi
if [ $# -gt 0 ]; then echo "setup.sh: takes no \"$1\"; try --help" >&2; exit 2; fi
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "setup.sh: this is no Debian system; install by hand what corresponds to: $packages" >&2
  exit 1
fi

missing=""
for package in $packages; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
  as_root=""
elif command -v sudo >/dev/null; then
  as_root="sudo"
else
  echo "setup.sh: missing:$missing" >&2
  echo "setup.sh: run this as root, or install sudo" >&2
  exit 1
fi

# Packages ask this program before they start a service. What was there before comes back at the end, however this script ends.
policy=/usr/sbin/policy-rc.d
work=$(mktemp -d)
restore() {
  if [ -e "$work/before" ]; then $as_root cp -p "$work/before" "$policy"; else $as_root rm -f "$policy"; fi
  rm -rf "$work"
}
if [ -e "$policy" ]; then cp -p "$policy" "$work/before"; fi
trap restore EXIT
trap 'exit 1' HUP INT TERM
printf '#!/bin/sh\nexit 101\n' >"$work/refuse"
$as_root install -m 755 "$work/refuse" "$policy"

echo "setup.sh: installing$missing"
apt() { $as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -q -y "$@" >"$work/log" 2>&1; }
# shellcheck disable=SC2086  # one word a package
if ! { apt update && apt -o Dpkg::Options::=--force-confold install --no-install-recommends $missing; }; then
  cat "$work/log" >&2
  echo "setup.sh: apt-get failed; see above" >&2
  exit 1
fi
