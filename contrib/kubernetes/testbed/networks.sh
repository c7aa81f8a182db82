# Networks of their own for kubelets. Read by up.sh and add_node.sh, with `network` set; empty without --networks.
#
# A kubelet, its containerd and its pods are in a network namespace, whose only link leads to a bridge of this machine. The API server
# listens at the bridge's address. link.sh cuts a link and mends it.
# shellcheck shell=bash disable=SC2154

make_bridge() { # NAME
  ip link add "$1" type bridge
  echo "$1" >"$run/bridge"
  ip address add "$network.1/24" dev "$1"
  ip link set "$1" up
}

in_node() { # FOLDER COMMAND...
  nsenter -n -t "$(cat "$1/mounts.pid")" "${@:2}"
}

# The namespace is that of the node's mounts, and so outlives containerd and kubelet.
join_network() {
  local link=kv$port other
  ip link add "$link" type veth peer name eth0 netns "$(cat "$run/mounts.pid")"
  echo "$link" >"$run/link"
  ip link set "$link" master "$(cat "$bed/bridge")" up
  in_node "$run" ip link set lo up
  in_node "$run" ip address add "$address/24" dev eth0
  in_node "$run" ip link set eth0 up
  in_node "$run" ip route add default via "$network.1"
  in_node "$run" sysctl -qw net.ipv4.ip_forward=1
  # Pods reach those of other nodes, and this machine reaches all.
  ip route add "$pods" via "$address"
  for other in "$bed" "$bed"/nodes/*; do
    [ -e "$other/network" ] || continue
    in_node "$other" ip route add "$pods" via "$address"
    in_node "$run" ip route add "$(cut -d' ' -f2 "$other/network")" via "$(cut -d' ' -f1 "$other/network")"
  done
  echo "$address $pods" >"$run/network"
}
