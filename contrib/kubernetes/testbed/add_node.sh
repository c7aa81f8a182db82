#!/bin/bash
# Adds a node to the test bed that up.sh DIR --kubelet started: another containerd and kubelet on this machine, in a network namespace of
# their own if up.sh was given --networks. down.sh ends them too.
#
#   add_node.sh DIR NAME
#
#   KUBE_NODE_PORT       the first of six TCP ports (26463); each node needs its own
#   KUBE_CONTAINERD_ROOT, KUBE_KUBELET_ARGS    as for up.sh
#
# restart.sh DIR nodes/NAME/kubelet restarts its kubelet.
set -euo pipefail

[ $# -eq 2 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
dir=$(cd "$1" && pwd)
node=$2
# shellcheck disable=SC1091  # written by up.sh
. "$dir/run/env"
pki=$dir/run/pki
api=$KUBE_API network=$KUBE_NETWORK address=127.0.0.1
bed=$dir/run
run=$dir/run/nodes/$node
[ ! -e "$run" ] || { echo "add_node.sh: there is a node $node already" >&2; exit 1; }
if [ -n "$network" ]; then
  address=$network.2
  for ((number = 3; ; number++)); do
    grep -qsr "^$address " "$bed/network" "$bed"/nodes/*/network || break
    address=$network.$number
  done
fi
mkdir -p "$run"
# shellcheck disable=SC2034  # these are read by kubelet.sh
bin=${KUBE_BIN:-$dir/bin} minor=$KUBE_MINOR port=${KUBE_NODE_PORT:-26463} certificate=kubelet-$node
# shellcheck disable=SC2034
kubelet_port=$((port + 4)) kubelet_health_port=$((port + 5))

. "$here/processes.sh"
. "$here/certificates.sh"
. "$here/networks.sh"
make_certificate "node-$node" "/O=system:nodes/CN=system:node:$node" extendedKeyUsage=clientAuth
make_certificate "$certificate" "/CN=$node" "extendedKeyUsage=serverAuth
subjectAltName=IP:127.0.0.1,DNS:$node"
make_kubeconfig "$run/node.kubeconfig" "node-$node"
printf '%s %s\n' "$address" "$node" >>"$dir/run/hosts"
. "$here/kubelet.sh"
start_containerd
start_kubelet
