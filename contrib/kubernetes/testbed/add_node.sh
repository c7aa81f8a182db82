#!/bin/bash
# Adds a node to the test bed that up.sh DIR --kubelet started: another containerd and kubelet on this machine. down.sh ends them too.
#
#   add_node.sh DIR NAME
#
#   KUBE_NODE_PORT       the first of six TCP ports (26463); each node needs its own
#   KUBE_CONTAINERD_ROOT, KUBE_KUBELET_ARGS    as for up.sh
#
# restart.sh DIR nodes/NAME/kubelet restarts its kubelet.
set -euo pipefail

[ $# -eq 2 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
dir=$(cd "$1" && pwd)
node=$2
# shellcheck disable=SC1091  # written by up.sh
. "$dir/run/env"
pki=$dir/run/pki
api=$KUBE_API
run=$dir/run/nodes/$node
[ ! -e "$run" ] || { echo "add_node.sh: there is a node $node already" >&2; exit 1; }
mkdir -p "$run"
# shellcheck disable=SC2034  # these are read by kubelet.sh
bin=${KUBE_BIN:-$dir/bin} minor=$KUBE_MINOR port=${KUBE_NODE_PORT:-26463} certificate=kubelet-$node
# shellcheck disable=SC2034
kubelet_port=$((port + 4)) kubelet_health_port=$((port + 5))

. "$here/processes.sh"
. "$here/certificates.sh"
make_certificate "node-$node" "/O=system:nodes/CN=system:node:$node" extendedKeyUsage=clientAuth
make_certificate "$certificate" "/CN=$node" "extendedKeyUsage=serverAuth
subjectAltName=IP:127.0.0.1,DNS:$node"
make_kubeconfig "$run/node.kubeconfig" "node-$node"
printf '127.0.0.1 %s\n' "$node" >>"$dir/run/hosts"
. "$here/kubelet.sh"
start_containerd
start_kubelet
