#!/bin/sh
# Installs Debian's own Slurm and MariaDB for the comparison, and starts no service. Does nothing, and says nothing, when all is there.
#
#   bench/peers/slurm/setup.sh
#
# Runs as root, or uses sudo. The harness starts private daemons of its own; nothing below /etc is configured.
set -eu

# mariadb-server-core contains the server without the service of mariadb-server.
packages="slurmctld slurmd slurmdbd slurm-client slurm-wlm-basic-plugins libslurm-dev mariadb-server-core mariadb-client-core munge gcc libc6-dev"

if [ "${1-}" = --help ]; then sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 0; fi
if [ $# -gt 0 ]; then echo "setup.sh: takes no \"$1\"; try --help" >&2; exit 2; fi
. "$(dirname "$0")/../../../contrib/packages.sh"
find_missing "$packages"
[ -n "$missing" ] || exit 0

# Packages call this program before they start a service. The previous file is restored when this script exits.
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

install_missing "$work/log"
