#!/bin/bash
# Puts Kubernetes 1.20.2 under DIR/bin, from Debian's packages alone. Writes nothing outside DIR and installs nothing.
#
#   get.sh DIR [apiserver] [kcm] [scheduler] [kubelet]      all four if none is named
#
# The binaries of etcd, containerd, runc, the CNI plugins and busybox are unpacked. kube-apiserver, kube-controller-manager (kcm),
# kube-scheduler and kubelet are built from the source package kubernetes, with Go 1.19. What is there already is left as it is.
#
#   KUBE_BUILD_JOBS   packages that Go compiles at the same time (2)
#   KUBE_BUILD_NICE   niceness of the build (19)
#   KUBE_KEEP_BUILD   not empty: keep sources and compiler, 1.8 GB, for another build
set -euo pipefail

[ $# -ge 1 ] || { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
parts=${*:-apiserver kcm scheduler kubelet}
jobs=${KUBE_BUILD_JOBS:-2}
nice="nice -n ${KUBE_BUILD_NICE:-19}"
run_packages="etcd-server etcd-client busybox-static"
build_packages="golang-1.19-go golang-1.19-src golang-github-modern-go-reflect2-dev"
gopath=$dir/src/gopath
tree=$gopath/src/k8s.io/kubernetes

say() { echo "get.sh: $* (after $SECONDS s)" >&2; }
# logged LOG COMMAND...: runs it; if it fails, shows the end of the log.
logged() {
  local log=$1
  shift
  "$@" >>"$log" 2>&1 || { tail -20 "$log" >&2; return 1; }
}

# --- packages

# The sources of the system, source packages included, in a list and a cache of our own.
set_up_apt() {
  local from=/etc/apt/sources.list.d/debian.sources
  if [ -e "$from" ]; then
    sed 's/^Types:.*/Types: deb deb-src/' "$from" >"$dir/own.sources"
  else
    from=/etc/apt/sources.list
    { grep '^deb ' "$from"; sed -n 's/^deb /deb-src /p' "$from"; } >"$dir/own.list"
  fi
  apt=(-q -o APT::Sandbox::User=root -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$dir/lists" -o Dir::Cache="$dir/cache")
  if [ -e "$dir/own.sources" ]; then apt+=(-o Dir::Etc::sourcelist="$dir/own.sources"); else apt+=(-o Dir::Etc::sourcelist="$dir/own.list"); fi
}

unpack_packages() { # PACKAGE...
  (cd "$dir/debs" && logged "$dir/apt.log" apt-get "${apt[@]}" download "$@")
  local package
  for package in "$@"; do
    dpkg-deb -x "$dir"/debs/"$package"_*.deb "$dir/root"
    touch "$dir/root/.got.$package"
    rm -f "$dir"/debs/"$package"_*.deb
  done
}

# --- source

unpack_source() {
  local version reflect2=$tree/vendor/github.com/modern-go/reflect2
  version=$(apt-cache "${apt[@]}" showsrc --only-source kubernetes | awk '$1=="Version:" && /1\.20\.2/{print $2}' | sort -V | tail -1)
  [ -n "$version" ] || { say "Debian's sources have no package kubernetes 1.20.2"; return 1; }
  (cd "$dir/src" && logged "$dir/apt.log" apt-get "${apt[@]}" source --download-only "kubernetes=$version")
  rm -rf "$tree"
  mkdir -p "$tree"
  $nice tar xzf "$dir"/src/kubernetes_*.orig.tar.gz -C "$tree" --strip-components=1 \
    --exclude='kubernetes-1.20.2/CHANGELOG' --exclude='kubernetes-1.20.2/test' --exclude='*_test.go'
  # reflect2 1.0.1 of the tree calls reflect.mapiterinit as it was before Go 1.18: each map that is encoded crashes the process.
  # Debian's 1.0.2 has the correction.
  rm -f "$reflect2"/*.go "$reflect2"/*.s
  cp "$dir"/root/usr/share/gocode/src/github.com/modern-go/reflect2/*.{go,s} "$reflect2"/
  touch "$dir/src/.unpacked"
  say "source unpacked"
}

# GOPATH mode, as this version was built: its go.mod is not complete enough for -mod=vendor since Go 1.16.
set_up_go() {
  export GO111MODULE=off GOROOT=$dir/root/usr/lib/go-1.19 GOPATH=$gopath GOCACHE=$dir/gocache GOPROXY=off GOFLAGS="" CGO_ENABLED=0 \
    GOTOOLCHAIN=local GOTMPDIR=$dir/tmp
  mkdir -p "$GOTMPDIR"
  PATH=$GOROOT/bin:$PATH
}

# The OpenAPI definitions, which server-side apply needs, are not in the source package but generated.
# shellcheck disable=SC2086  # nice and its options are several words
generate_openapi() {
  [ ! -s pkg/generated/openapi/zz_generated.openapi.go ] || return 0
  $nice go build -p "$jobs" -o "$dir/bin/openapi-gen" k8s.io/kubernetes/vendor/k8s.io/kube-openapi/cmd/openapi-gen
  local folders
  folders=$({
    grep -rl --include='*.go' '+k8s:openapi-gen=' pkg cmd plugin 2>/dev/null
    grep -rl --include='*.go' '+k8s:openapi-gen=' staging/src/k8s.io | grep -v -e /code-generator/ -e /sample- | sed 's#^staging/src/#vendor/#'
  } | xargs -n1 dirname | LC_ALL=C sort -u | sed 's#^#k8s.io/kubernetes/#' | paste -sd,)
  logged "$dir/openapi-gen.log" $nice "$dir/bin/openapi-gen" --logtostderr -i "$folders" -p k8s.io/kubernetes/pkg/generated/openapi \
    -O zz_generated.openapi -h vendor/k8s.io/code-generator/hack/boilerplate.go.txt -r "$dir/src/violations.report" -o "$gopath/src"
  say "OpenAPI definitions generated"
}

build() { # PROGRAM...
  local package flags="-s -w"
  for package in k8s.io/kubernetes/vendor/k8s.io/component-base/version k8s.io/kubernetes/vendor/k8s.io/client-go/pkg/version; do
    flags="$flags -X $package.gitVersion=v1.20.2 -X $package.gitMajor=1 -X $package.gitMinor=20 -X $package.gitTreeState=archive"
  done
  rm -rf "$dir/new"
  mkdir "$dir/new"
  # Without cloud providers and dockershim, which are most of the work.
  $nice go build -trimpath -buildvcs=false -p "$jobs" -tags providerless,dockerless -ldflags "$flags" -gcflags all=-dwarf=false \
    -o "$dir/new/" "${@/#/k8s.io/kubernetes/cmd/}"
  mv "$dir"/new/* "$dir/bin/"
  rmdir "$dir/new"
  say "built $*"
}

# --- what there is to do

programs=()
for part in $parts; do
  case $part in
    apiserver) program=kube-apiserver ;;
    kcm) program=kube-controller-manager ;;
    scheduler) program=kube-scheduler ;;
    kubelet)
      program=kubelet
      run_packages="$run_packages containerd runc containernetworking-plugins"
      ;;
    *) echo "get.sh: unknown part $part; known are apiserver, kcm, scheduler and kubelet" >&2; exit 2 ;;
  esac
  [ -x "$dir/bin/$program" ] || programs+=("$program")
done
packages=$run_packages
[ ${#programs[@]} = 0 ] || packages="$packages $build_packages"
missing=()
for package in $packages; do
  [ -e "$dir/root/.got.$package" ] || missing+=("$package")
done

mkdir -p "$dir"/{bin,root,debs,src,lists/partial,cache}
set_up_apt
if [ ${#missing[@]} != 0 ] || { [ ${#programs[@]} != 0 ] && [ ! -e "$dir/src/.unpacked" ]; }; then
  logged "$dir/apt.log" apt-get "${apt[@]}" update
fi
[ ${#missing[@]} = 0 ] || unpack_packages "${missing[@]}"
ln -sf ../root/usr/bin/etcd ../root/usr/bin/etcdctl "$dir/bin/"
if [ -e "$dir/root/bin/busybox" ]; then ln -sf ../root/bin/busybox "$dir/bin/"; else ln -sf ../root/usr/bin/busybox "$dir/bin/"; fi
if [ ${#programs[@]} = 0 ]; then
  say "all is there"
  exit 0
fi

[ -e "$dir/src/.unpacked" ] || unpack_source
set_up_go
cd "$tree"
generate_openapi
build "${programs[@]}"
if [ -z "${KUBE_KEEP_BUILD:-}" ]; then
  rm -rf "$dir"/{src,gocache,tmp,lists,cache,debs} "$dir"/bin/openapi-gen "$dir"/root/usr/lib/go-1.19 "$dir"/root/usr/share/{go-1.19,gocode,doc,man}
  for package in $build_packages; do rm -f "$dir/root/.got.$package"; done
fi
