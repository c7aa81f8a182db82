#!/bin/bash
# Runs jobs of a private cluster of Ares as pods of a real Kubernetes, and shows for each what it did, its row in the accounting, and that
# the API server and aqueue say the same.
#
#   contrib/kubernetes/demo.sh DIR
#
# DIR is that of testbed/get.sh. Without a test bed that runs there, one with two kubelets in networks of their own is started, and ended
# afterwards. The programs are those of build/release, which are built, or those of ARES_BIN_DIR.
set -euo pipefail

[ $# -eq 1 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
dir=$(cd "$1" && pwd)
[ -n "${ARES_BIN_DIR:-}" ] || ninja -C "$root/build/release" programs aresd ares-gate >/dev/null
bin=${ARES_BIN_DIR:-$root/build/release/bin}
export PATH=$bin:$PATH

work=$(mktemp -d -t ares-kubernetes-XXXXXX)
chmod 1777 "$work"
own_bed=""
agent=""
finish() {
  [ -z "$agent" ] || { kill "$agent" 2>/dev/null; wait "$agent" 2>/dev/null; } || true
  [ ! -e "$work/c/settings" ] || acluster down --dir "$work/c" >/dev/null 2>&1 || true
  [ -z "$own_bed" ] || "$here/testbed/down.sh" "$dir"
  rm -rf "$work"
}
trap finish EXIT

if [ ! -e "$dir/run/env" ]; then
  own_bed=1
  "$here/testbed/up.sh" "$dir" --kubelet --networks
  "$here/testbed/add_node.sh" "$dir" node2
fi
"$here/testbed/gate_image.sh" "$dir" "$bin/ares-gate"
# shellcheck disable=SC1091  # written by up.sh
. "$dir/run/env"
first=$KUBE_NODE
second=$(basename "$(dirname "$(ls -d "$dir"/run/nodes/*/kubelet.pid 2>/dev/null | head -1)")" 2>/dev/null || true)
nodes=$first${second:+,$second}

cat >"$work/config.yaml" <<END
cluster: demo
controller: {operators: [$(id -un)]}
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1, dynamic_nodes: [{names: "$nodes", partitions: [main]}]}
nodes:
  - {name: n1, cpus: 2, memory: 2000M}
partitions:
  - {name: main, nodes: n1, default: true, default_memory_per_cpu: 50M}
END
acluster up --dir "$work/c" --config "$work/config.yaml" >/dev/null
export ARES_CONF=$work/c/ares.yaml
cd "$work"

start_agent() { # IMAGE
  [ -z "$agent" ] || { kill "$agent"; wait "$agent" || true; }
  awk -v "node=node: {exec: kubernetes, kubernetes: {kubeconfig: $dir/run/admin.kubeconfig, image: '$1', gate_image: 'localhost/ares-gate:1', allow_root: true, mounts: ['$work']}}" \
    '/^node:/ {print node; skip = 1; next} skip && /^ / {next} {skip = 0; print}' "$ARES_CONF" >agent.yaml
  aresd --config agent.yaml --join >>agent.log 2>&1 &
  agent=$!
  until ainfo -h -N -n "$first" -o %t 2>/dev/null | grep -q idle; do
    kill -0 "$agent" || { cat agent.log >&2; exit 1; }
    sleep .1
  done
}

script() { # TEXT
  printf '#!/bin/sh\n%s\n' "$1" >job.sh
}

title() { printf '\n== %s\n' "$1"; }
row() { aacct -X -n -P -j "$1" -o JobID,State,ExitCode,NodeList,MaxRSS; }
ended() { await -q "$1" >/dev/null 2>&1 || true; }

start_agent localhost/busybox:1
title "the nodes of Kubernetes as nodes of Ares, beside a machine without it"
ainfo -N -o "%N %P %t %c %m"

title "a script, unchanged"
script 'echo "job $SLURM_JOB_ID on $SLURM_JOB_NODELIST in pod $(hostname)"'
job=$(asub --parsable -w "$first" job.sh)
ended "$job"
cat "ares-$job.out"
row "$job"

title "an array; what Kubernetes and aqueue show of it"
script 'until [ -e release ]; do sleep 0.1; done'
job=$(asub --parsable -w "$first" -a 1-2 --mem=20M job.sh)
until [ "$(aqueue -h -t R | wc -l)" = 2 ]; do sleep .1; done
aqueue -o "%i %T %N"
curl -s --cacert "$KUBE_CA" --cert "$KUBE_CERT" --key "$KUBE_KEY" "$KUBE_API/api/v1/namespaces/default/pods?labelSelector=ares.io/cluster=demo" |
  grep -oE '"(ares.io/(job|task)|nodeName|phase)": "[^"]*"' | paste - - - -
touch release
ended "$job"
row "$job"

if [ -n "$second" ]; then
  title "a gang on two nodes, whose members talk to each other"
  script 'hostname -i > address.new; mv address.new address; echo "hello from $(hostname)" | busybox nc -l -p 7777'
  server=$(asub --parsable -w "$first" --gang=g --gang-size=2 job.sh)
  script 'until [ -e address ]; do sleep 0.1; done; until busybox nc $(cat address) 7777 > got && [ -s got ]; do sleep 0.1; done; echo "$(hostname) got: $(cat got)"'
  client=$(asub --parsable -w "$second" --gang=g --gang-size=2 job.sh)
  ended "$server"
  ended "$client"
  cat "ares-$client.out"
  row "$server,$client"
fi

title "requeue: it starts again"
script 'echo start >> starts; [ "$(wc -l < starts)" = 2 ] || sleep 1000'
job=$(asub --parsable -w "$first" --requeue job.sh)
until [ -e starts ]; do sleep .1; done
actl requeue "$job"
until row "$job" | grep -q COMPLETED; do sleep .2; done
echo "starts: $(wc -l <starts)"
row "$job"

title "cancel: the script is told, and ends"
script 'trap "echo told; exit 1" TERM; : > up; while :; do sleep 0.1; done'
job=$(asub --parsable -w "$first" job.sh)
until [ -e up ]; do sleep .1; done
acancel "$job"
ended "$job"
row "$job"

title "out of memory"
script 'head -c 200000000 /dev/zero | tail > /dev/null'
job=$(asub --parsable -w "$first" --mem=30M job.sh)
ended "$job"
row "$job"

title "time limit of a minute"
script 'sleep 1000'
job=$(asub --parsable -w "$first" -t 1 job.sh)
ended "$job"
row "$job"

title "an image that does not exist"
start_agent localhost/absent:1
script 'echo never'
job=$(asub --parsable -w "$first" job.sh)
until actl show job "$job" | grep -q "cannot be started"; do sleep .5; done
actl show job "$job" | grep -E "JobState|cannot be started"
acancel "$job"
ended "$job"
row "$job"

title "what is left in Kubernetes"
sleep_until_empty() {
  local kind
  for kind in pods secrets; do
    until ! curl -s --cacert "$KUBE_CA" --cert "$KUBE_CERT" --key "$KUBE_KEY" "$KUBE_API/api/v1/namespaces/default/$kind" | grep -q '"name": "ares-demo-'; do sleep .5; done
    echo "$kind of Ares: 0"
  done
}
sleep_until_empty
