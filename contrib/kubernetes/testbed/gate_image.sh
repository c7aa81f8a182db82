#!/bin/bash
# Gives the kubelets of a running test bed the image localhost/ares-gate:1, which has the program /ares-gate.
#
#   gate_image.sh DIR PROGRAM
#
# DIR is that of up.sh; PROGRAM is ares-gate as the build makes it.
set -euo pipefail

[ $# -eq 2 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
dir=$(cd "$1" && pwd)
# shellcheck disable=SC2034  # read by images.sh
containerd=${KUBE_CONTAINERD_ROOT:-$dir/root}/usr/bin
. "$here/images.sh"
for run in "$dir/run" "$dir"/run/nodes/*; do
  # shellcheck disable=SC2034
  state=$run/containerd
  [ ! -d "$state" ] || make_image localhost/ares-gate:1 null "$2"
done
