#!/bin/bash
# Cuts the link of a node of a test bed that up.sh DIR --networks started, or mends it: the kubelet and its pods run on, and reach neither
# the API server nor other nodes.
#
#   link.sh DIR NODE cut|mend
set -euo pipefail

[ $# -eq 3 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
run=$(cd "$1" && pwd)/run
[ ! -d "$run/nodes/$2" ] || run=$run/nodes/$2
[ -e "$run/link" ] || { echo "link.sh: node $2 has no link of its own; see up.sh --networks" >&2; exit 1; }
case $3 in
  cut) ip link set "$(cat "$run/link")" down ;;
  mend) ip link set "$(cat "$run/link")" up ;;
  *) echo "link.sh: cut or mend, not $3" >&2; exit 2 ;;
esac
