#!/bin/sh
# Installs what building and testing Ares needs on Debian 12. Does nothing, and says nothing, when all is there.
#
#   contrib/deps.sh          the compiler, the libraries, PostgreSQL, munge, pytest
#   contrib/deps.sh --dev    clang-format and clang-tidy as well
#
# Runs as root, or uses sudo.
set -eu

packages="
build-essential cmake ninja-build ccache mold pkg-config git ca-certificates
libgrpc++-dev libgrpc-dev protobuf-compiler-grpc libprotobuf-dev protobuf-compiler
libpq-dev postgresql-15 libmunge-dev munge libsodium-dev
libyaml-cpp-dev libspdlog-dev libfmt-dev libcli11-dev nlohmann-json3-dev libreadline-dev
libhowardhinnant-date-dev libexpected-dev zlib1g-dev
libgtest-dev libgmock-dev libbenchmark-dev python3 python3-pytest iproute2"

case "${1-}" in
  '') ;;
  --dev) packages="$packages clang-format clang-tidy" ;;
  --help) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) echo "deps.sh: unknown option $1; try --help" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "deps.sh: this is no Debian system; install by hand what corresponds to:$packages" >&2
  exit 1
fi

missing=""
for package in $packages; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
  as_root=""
elif command -v sudo >/dev/null; then
  as_root="sudo"
else
  echo "deps.sh: missing:$missing" >&2
  echo "deps.sh: run this as root, or install sudo" >&2
  exit 1
fi

# PostgreSQL's package makes and starts a cluster of its own unless told otherwise. Ares starts its own private ones, so
# none is wanted; but a machine that has the package already keeps whatever it has.
case "$missing " in
  *" postgresql-15 "*)
    if [ ! -e /etc/postgresql-common/createcluster.conf ]; then
      $as_root mkdir -p /etc/postgresql-common
      echo "create_main_cluster = false" | $as_root tee /etc/postgresql-common/createcluster.conf >/dev/null
    fi
    ;;
esac

echo "deps.sh: installing$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { $as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -q -y "$@" >"$log" 2>&1; }
# shellcheck disable=SC2086  # one word a package
if ! { apt update && apt -o Dpkg::Options::=--force-confold install --no-install-recommends $missing; }; then
  cat "$log" >&2
  echo "deps.sh: apt-get failed; see above" >&2
  exit 1
fi
