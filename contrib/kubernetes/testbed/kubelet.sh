# containerd and a kubelet for the test bed. Read by up.sh and add_node.sh, with their variables set.
#
# Both run in a mount namespace of their own, in which each folder that they have fixed in them is one of ours; with `network` in a network
# namespace as well. Pods are in a control group of version 1 that only this test bed uses.
# shellcheck shell=bash disable=SC2154

state=$run/containerd
containerd=${KUBE_CONTAINERD_ROOT:-$dir/root}/usr/bin
runc=$dir/root/usr/sbin
group=/$(basename "$dir")-$port
certificate=${certificate:-kubelet}
bed=${bed:-$run}
pods=10.250.$((port % 250)).0/24
namespaces=(-m)
[ -z "$network" ] || namespaces+=(-n)

make_groups() {
  local hierarchy
  for hierarchy in /sys/fs/cgroup/*/; do
    [ -e "$hierarchy/tasks" ] || continue
    mkdir -p "$hierarchy$group"
    if [ -e "$hierarchy/cpuset.cpus" ]; then
      cat "$hierarchy/cpuset.cpus" >"$hierarchy$group/cpuset.cpus"
      cat "$hierarchy/cpuset.mems" >"$hierarchy$group/cpuset.mems"
    fi
  done
  echo "$group" >"$run/cgroup"
}

# The kubelet changes these settings of the kernel; down.sh puts them back.
save_settings() {
  local name
  for name in vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops kernel.keys.root_maxkeys kernel.keys.root_maxbytes; do
    echo "$name=$(sysctl -n $name 2>/dev/null)"
  done >"$run/sysctl"
}

make_folders() {
  local folder
  : >"$run/made"
  : >"$run/binds"
  for folder in /run/containerd /var/lib/kubelet /var/lib/cni /var/log/pods /var/log/containers /usr/libexec/kubernetes; do
    mkdir -p "$run/own$folder"
    [ -d "$folder" ] || { mkdir -p "$folder"; echo "$folder" >>"$run/made"; }
    echo "$folder" >>"$run/binds"
  done
}

# restrict_oom_score_adj: without CAP_SYS_RESOURCE the score of a pod's sandbox cannot be set.
write_containerd_configuration() {
  cat >"$state/config.toml" <<END
version = 2
root = "$state/root"
state = "$state/state"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.internal.v1.opt"]
[grpc]
  address = "$state/containerd.sock"
[ttrpc]
  address = "$state/containerd.sock.ttrpc"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  stream_server_address = "127.0.0.1"
  disable_apparmor = true
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$dir/root/usr/lib/cni"
    conf_dir = "$run/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "${KUBE_SNAPSHOTTER:-overlayfs}"
    default_runtime_name = "runc"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      BinaryName = "$runc/runc"
      SystemdCgroup = false
END
  cat >"$run/cni/10-lo.conflist" <<END
{"cniVersion": "0.4.0", "name": "ptp", "plugins": [
  {"type": "ptp", "ipMasq": false,
   "ipam": {"type": "host-local", "subnet": "$pods", "routes": [{"dst": "10.250.0.0/16"}], "dataDir": "$run/cni-data"}},
  {"type": "loopback"}]}
END
}

# A mount namespace that outlives containerd and kubelet: after the restart of one of them they still see each other's mounts.
start_mounts() {
  # shellcheck disable=SC2016  # the inner shell expands
  start mounts unshare "${namespaces[@]}" sh -c \
    'while read -r folder; do mount --bind "$0/own$folder" "$folder" || exit 1; done <"$0/binds"; : >"$0/mounts.made"; exec sleep infinity' "$run"
  wait_for mounts 10 test -e "$run/mounts.made"
  [ -z "$network" ] || join_network
}

start_containerd() {
  mkdir -p "$state/root" "$state/state" "$run/kubelet" "$run/cni" "$run/manifests"
  make_groups
  save_settings
  make_folders
  write_containerd_configuration
  start_mounts
  start containerd env PATH="$containerd:$runc:$PATH" nsenter "${namespaces[@]}" -t "$(cat "$run/mounts.pid")" \
    "$containerd/containerd" -c "$state/config.toml"
  wait_for containerd 30 "$containerd/ctr" -a "$state/containerd.sock" version
  . "$here/images.sh"
  make_image localhost/pause:1 '["/bin/busybox","sh","-c","trap \"exit 0\" TERM INT; while :; do sleep 3600 \u0026 wait; done"]'
  make_image localhost/busybox:1 null
}

write_kubelet_configuration() {
  cat >"$run/kubelet.yaml" <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $address
port: $kubelet_port
readOnlyPort: 0
healthzPort: $kubelet_health_port
cgroupDriver: cgroupfs
cgroupRoot: $group
cgroupsPerQOS: true
enforceNodeAllocatable: [pods]
failSwapOn: false
makeIPTablesUtilChains: false
resolvConf: ""
staticPodPath: $run/manifests
tlsCertFile: $pki/$certificate.crt
tlsPrivateKeyFile: $pki/$certificate.key
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $pki/ca.crt}}
authorization: {mode: Webhook}
evictionHard: {memory.available: "50Mi", nodefs.available: "1%", imagefs.available: "1%"}
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
nodeStatusUpdateFrequency: 5s
syncFrequency: 10s
serializeImagePulls: false
$( [ "$minor" -lt 27 ] || echo "containerRuntimeEndpoint: unix://$state/containerd.sock" )
$( [ "$minor" -lt 31 ] || echo "failCgroupV1: false" )
END
}

start_kubelet() {
  write_kubelet_configuration
  local arguments=(--config "$run/kubelet.yaml" --kubeconfig "$run/node.kubeconfig" --hostname-override "$node"
    --root-dir "$run/kubelet" --cert-dir "$run/kubelet/pki" --oom-score-adj 0)
  [ -z "$network" ] || arguments+=(--node-ip "$address")
  [ "$minor" -ge 27 ] || arguments+=(--container-runtime=remote --container-runtime-endpoint "unix://$state/containerd.sock")
  # Without AWS_EC2_METADATA_DISABLED it asks a cloud's metadata service for credentials.
  # shellcheck disable=SC2086  # several words
  start kubelet env AWS_EC2_METADATA_DISABLED=true PATH="$containerd:$runc:$PATH" nsenter "${namespaces[@]}" -t "$(cat "$run/mounts.pid")" \
    "$bin/kubelet" "${arguments[@]}" ${KUBE_KUBELET_ARGS:-}
  wait_for kubelet 60 ask "/api/v1/nodes/$node"
}
