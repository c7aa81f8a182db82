#!/bin/bash
# Starts the Kubernetes that get.sh put into DIR, on 127.0.0.1, and waits until it answers. down.sh DIR ends it.
#
#   up.sh DIR [--no-kcm] [--scheduler] [--kubelet [--networks]]
#
# etcd and kube-apiserver always; kube-controller-manager unless --no-kcm; kube-scheduler, and containerd with a kubelet, on
# request; with --networks each kubelet is in a network namespace of its own (networks.sh), and the API server answers at an address that only
# these and this machine have. DIR/run has the certificates (pki), admin.kubeconfig, a log of each process and `env`, which a shell reads.
#
#   KUBE_PORT                  the first of seven TCP ports (26443)
#   KUBE_NODE                  name of the kubelet's node (node1)
#   KUBE_NETWORK               first three numbers of addresses of kubelets in networks of their own (10.249.N; N follows the port)
#   KUBE_NODE_GRACE            how long a node may be silent (40s)
#   KUBE_BIN, KUBE_ETCD        kube-* programs of another version; another etcd
#   KUBE_CONTAINERD_ROOT       folder with another containerd in usr/bin
#   KUBE_RUNTIME_CONFIG, KUBE_APISERVER_ARGS, KUBE_KCM_ARGS, KUBE_SCHEDULER_ARGS, KUBE_KUBELET_ARGS    more options
set -euo pipefail

[ $# -ge 1 ] || { sed -n '2,16s/^# \{0,1\}//p' "$0" >&2; exit 2; }
dir=$(cd "$1" && pwd)
shift
kcm=1 scheduler="" kubelet="" network=""
while [ $# -gt 0 ]; do
  case $1 in
    --no-kcm) kcm="" ;;
    --scheduler) scheduler=1 ;;
    --kubelet) kubelet=1 ;;
    --networks) network=1 ;;
    *) echo "up.sh: unknown option $1" >&2; exit 2 ;;
  esac
  shift
done
here=$(cd "$(dirname "$0")" && pwd)
bin=${KUBE_BIN:-$dir/bin}
run=$dir/run
pki=$run/pki
node=${KUBE_NODE:-node1}
port=${KUBE_PORT:-26443}
host=127.0.0.1 address=127.0.0.1
if [ -n "$network" ]; then
  [ -n "$kubelet" ] || { echo "up.sh: --networks needs --kubelet" >&2; exit 2; }
  network=${KUBE_NETWORK:-10.249.$((port % 250))}
  host=$network.1 address=$network.2
fi
api=https://$host:$port
etcd=http://127.0.0.1:$((port + 1))
etcd_peer=http://127.0.0.1:$((port + 2))
kcm_port=$((port + 3))
kubelet_port=$((port + 4))
kubelet_health_port=$((port + 5))
scheduler_port=$((port + 6))
[ ! -e "$run" ] || { echo "up.sh: $run exists; run down.sh $dir first" >&2; exit 1; }
mkdir -p "$pki" "$run/etcd"
chmod 700 "$pki"
minor=$("$bin/kube-apiserver" --version | sed -E 's/.* v1\.([0-9]+).*/\1/')

. "$here/processes.sh"
. "$here/networks.sh"
[ -z "$network" ] || make_bridge "kb$port"

# --- certificates

. "$here/certificates.sh"
make_ca
server="extendedKeyUsage=serverAuth
subjectAltName=IP:127.0.0.1,IP:$host,IP:10.0.0.1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc"
client=extendedKeyUsage=clientAuth
make_certificate apiserver /CN=kube-apiserver "$server"
make_certificate admin /O=system:masters/CN=admin "$client"
make_certificate kubelet-client /O=system:masters/CN=kube-apiserver-kubelet-client "$client"
make_certificate kcm /CN=system:kube-controller-manager "$client"
make_certificate scheduler /CN=system:kube-scheduler "$client"
make_certificate node "/O=system:nodes/CN=system:node:$node" "$client"
make_certificate kubelet "/CN=$node" "extendedKeyUsage=serverAuth
subjectAltName=IP:127.0.0.1,DNS:$node"
logged openssl genrsa -out "$pki/sa.key" 2048
logged openssl rsa -in "$pki/sa.key" -pubout -out "$pki/sa.pub"
for user in admin kcm scheduler node; do make_kubeconfig "$run/$user.kubeconfig" $user; done

# --- etcd

start etcd "${KUBE_ETCD:-$dir/bin/etcd}" --data-dir "$run/etcd" --unsafe-no-fsync \
  --listen-client-urls "$etcd" --advertise-client-urls "$etcd" \
  --listen-peer-urls "$etcd_peer" --initial-advertise-peer-urls "$etcd_peer" --initial-cluster "default=$etcd_peer"
wait_for etcd 20 curl -sf "$etcd/health"

# --- kube-apiserver, which finds the kubelet by its name: in a mount namespace with an /etc/hosts of its own

options=()
# Without the controller manager a namespace gets no service account, and no pod would be admitted.
[ -n "$kcm" ] || options+=(--disable-admission-plugins=ServiceAccount)
[ "$minor" -lt 21 ] || [ -z "${KUBE_RUNTIME_CONFIG:-}" ] || options+=(--runtime-config "$KUBE_RUNTIME_CONFIG")
printf '127.0.0.1 localhost\n%s %s\n' "$address" "$node" >"$run/hosts"
# shellcheck disable=SC2016,SC2086  # the inner shell expands; more options are several words
start kube-apiserver unshare -m sh -c 'mount --bind "$0" /etc/hosts && exec "$@"' "$run/hosts" \
  "$bin/kube-apiserver" --etcd-servers "$etcd" --bind-address "$host" --secure-port "$port" --advertise-address "$host" \
  --endpoint-reconciler-type none --service-cluster-ip-range 10.0.0.0/24 \
  --tls-cert-file "$pki/apiserver.crt" --tls-private-key-file "$pki/apiserver.key" --client-ca-file "$pki/ca.crt" \
  --kubelet-client-certificate "$pki/kubelet-client.crt" --kubelet-client-key "$pki/kubelet-client.key" \
  --kubelet-certificate-authority "$pki/ca.crt" --kubelet-preferred-address-types Hostname \
  --service-account-key-file "$pki/sa.pub" --service-account-signing-key-file "$pki/sa.key" \
  --service-account-issuer https://kubernetes.default.svc --api-audiences https://kubernetes.default.svc \
  --authorization-mode Node,RBAC --enable-admission-plugins NodeRestriction --allow-privileged=true --profiling=false \
  "${options[@]}" ${KUBE_APISERVER_ARGS:-}
wait_for kube-apiserver 90 ask /readyz

# --- kube-controller-manager

# Versions before 1.24 would serve HTTP on all addresses as well, at a port that two test beds cannot share.
no_http=()
[ "$minor" -ge 24 ] || no_http=(--port 0)
if [ -n "$kcm" ]; then
  # shellcheck disable=SC2086
  start kube-controller-manager "$bin/kube-controller-manager" --kubeconfig "$run/kcm.kubeconfig" \
    --authentication-kubeconfig "$run/kcm.kubeconfig" --authorization-kubeconfig "$run/kcm.kubeconfig" \
    --bind-address 127.0.0.1 --secure-port "$kcm_port" "${no_http[@]}" --leader-elect=false \
    --service-account-private-key-file "$pki/sa.key" --root-ca-file "$pki/ca.crt" --use-service-account-credentials=true \
    --flex-volume-plugin-dir "$run/flex" --node-monitor-grace-period "${KUBE_NODE_GRACE:-40s}" \
    --controllers '*,-nodeipam,-route,-service,-cloud-node-lifecycle' ${KUBE_KCM_ARGS:-}
  wait_for kube-controller-manager 60 curl -sfk "https://127.0.0.1:$kcm_port/healthz"
  wait_for kube-controller-manager 60 ask /api/v1/namespaces/default/serviceaccounts/default
fi

# --- kube-scheduler

if [ -n "$scheduler" ]; then
  # shellcheck disable=SC2086
  start kube-scheduler "$bin/kube-scheduler" --kubeconfig "$run/scheduler.kubeconfig" \
    --authentication-kubeconfig "$run/scheduler.kubeconfig" --authorization-kubeconfig "$run/scheduler.kubeconfig" \
    --bind-address 127.0.0.1 --secure-port "$scheduler_port" "${no_http[@]}" --leader-elect=false ${KUBE_SCHEDULER_ARGS:-}
  wait_for kube-scheduler 60 curl -sfk "https://127.0.0.1:$scheduler_port/healthz"
fi

cat >"$run/env" <<END
export KUBECONFIG=$run/admin.kubeconfig KUBE_API=$api KUBE_CA=$pki/ca.crt KUBE_CERT=$pki/admin.crt KUBE_KEY=$pki/admin.key
export KUBE_ETCD_URL=$etcd KUBE_MINOR=$minor KUBE_RUN=$run KUBE_KCM=$kcm KUBE_NODE=$node KUBE_NETWORK=$network
END

if [ -n "$kubelet" ]; then
  . "$here/kubelet.sh"
  start_containerd
  start_kubelet
fi
echo "up.sh: Kubernetes 1.$minor answers at $api; . $run/env" >&2
