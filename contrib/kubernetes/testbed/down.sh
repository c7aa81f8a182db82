#!/bin/bash
# Ends what up.sh DIR started and removes DIR/run.
#
#   down.sh DIR
#
#   KUBE_KEEP    not empty: keep DIR/run as DIR/run.last
set -u

[ $# = 1 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
dir=$(cd "$1" && pwd) || exit 2
run=$dir/run
[ -d "$run" ] || exit 0

stop() { # NAME
  local pid i
  pid=$(cat "$run/$1.pid" 2>/dev/null) || return 0
  kill "$pid" 2>/dev/null || return 0
  for ((i = 0; i < 100; i++)); do
    kill -0 "$pid" 2>/dev/null || return 0
    sleep .1
  done
  kill -9 "$pid" 2>/dev/null
}

# The processes of pods are in the control group of this test bed. The shims of containerd are outside of it: they are
# recognised by its socket, which they were given.
stop_pods() {
  local pids i process
  for ((i = 0; i < 10; i++)); do
    pids=$(find "/sys/fs/cgroup/pids/$group" -name cgroup.procs -exec cat {} + 2>/dev/null)
    [ -n "$pids" ] || break
    # shellcheck disable=SC2086  # one word each
    kill -9 $pids 2>/dev/null
    sleep .2
  done
  for process in /proc/[0-9]*; do
    { tr '\0' ' ' <"$process/cmdline"; } 2>/dev/null |
      grep -q "containerd-shim.* -address $run/containerd/containerd.sock" && kill -9 "${process#/proc/}" 2>/dev/null
  done
}

# A kubelet with its containerd and its pods, and what they changed; `run` is its folder.
stop_node() {
  stop kubelet
  [ -e "$run/cgroup" ] || return 0
  group=$(cat "$run/cgroup")
  stop_pods
  stop containerd
  stop mounts
  [ ! -e "$run/link" ] || ip link delete "$(cat "$run/link")" 2>/dev/null
  for hierarchy in /sys/fs/cgroup/*/; do
    [ ! -d "$hierarchy$group" ] || find "$hierarchy$group" -depth -type d -exec rmdir {} \; 2>/dev/null
  done
  [ ! -e "$run/sysctl" ] || while read -r setting; do sysctl -qw "$setting" 2>/dev/null; done <"$run/sysctl"
  # The folders that were made for its mounts.
  [ ! -e "$run/made" ] || while read -r folder; do rmdir "$folder" 2>/dev/null; done <"$run/made"
}

stop kube-scheduler
for node in "$run"/nodes/*/; do # by add_node.sh, so before the first one
  [ ! -d "$node" ] || (run=${node%/}; stop_node)
done
stop_node
for name in kube-controller-manager kube-apiserver etcd; do stop $name; done
[ ! -e "$run/bridge" ] || ip link delete "$(cat "$run/bridge")"
mount | awk -v run="$run/" 'index($3, run) == 1 {print $3}' | sort -r | while read -r place; do umount -l "$place"; done
rm -rf "$run.last"
if [ -n "${KUBE_KEEP:-}" ]; then mv "$run" "$run.last"; else rm -rf "$run"; fi
