#!/bin/bash
# Ends one process of the test bed and starts it as up.sh did. Waits until the API server answers.
#
#   restart.sh DIR NAME [SIGNAL]      NAME: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, containerd, kubelet
set -eu

[ $# -ge 2 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2; }
run=$(cd "$1" && pwd)/run
name=$2
pid=$(cat "$run/$name.pid")
kill "-${3:-TERM}" "$pid" 2>/dev/null || true
for ((i = 0; i < 300; i++)); do
  kill -0 "$pid" 2>/dev/null || break
  sleep .1
done
eval "exec setsid $(cat "$run/$name.cmd")" >>"$run/$name.log" 2>&1 </dev/null &
echo $! >"$run/$name.pid"
# shellcheck disable=SC1091  # written by up.sh
. "$run/env"
for ((i = 0; i < 300; i++)); do
  curl -sf --cacert "$KUBE_CA" --cert "$KUBE_CERT" --key "$KUBE_KEY" "$KUBE_API/readyz" >/dev/null && exit 0
  sleep .2
done
echo "restart.sh: the API server does not answer; see $run/kube-apiserver.log" >&2
exit 1
