#!/bin/sh
# Installs Slurm's commands for Ares: PREFIX/bin/sbatch and the others, and PREFIX/lib/ares-slurm, which they read.
#
#   contrib/slurm/install.sh PREFIX
set -eu

case "${1-}" in
  '' | -*) sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/bin" "$1/lib/ares-slurm/bin" "$1/lib/ares-slurm/ares_slurm"
to=$(cd "$1" && pwd)
if command -v slurmctld >/dev/null 2>&1; then echo "install.sh: this machine has Slurm itself; see which comes first in PATH" >&2; fi
cp "$here"/ares_slurm/*.py "$to/lib/ares-slurm/ares_slurm/"
cp "$here/bin/slurm-command" "$to/lib/ares-slurm/bin/"
chmod 755 "$to/lib/ares-slurm/bin/slurm-command"
for command in "$here"/bin/*; do
  name=$(basename "$command")
  [ "$name" = slurm-command ] || ln -sf ../lib/ares-slurm/bin/slurm-command "$to/bin/$name"
done
