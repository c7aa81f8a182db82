#!/bin/sh
# Installs what building and testing Ares needs on Debian 12. Does nothing, and says nothing, when all is there.
#
#   contrib/deps.sh          the compiler, the libraries, PostgreSQL, munge, pytest, mandoc
#   contrib/deps.sh --dev    clang, its runtime for fuzzing, clang-format, clang-tidy with the headers for its plugins, faketime
#                            for tests/fault/campaign.py, user-mode-linux for contrib/uml.sh and the MPI whose programs tests run as well
#
# Runs as root, or uses sudo.
set -eu

packages="
build-essential cmake ninja-build ccache mold pkg-config git ca-certificates
libgrpc++-dev libgrpc-dev protobuf-compiler-grpc libprotobuf-dev protobuf-compiler
libpq-dev postgresql-15 libmunge-dev munge libsodium-dev
libyaml-cpp-dev libspdlog-dev libfmt-dev libcli11-dev nlohmann-json3-dev libreadline-dev
libhowardhinnant-date-dev libexpected-dev zlib1g-dev libhwloc-dev
libcurl4-openssl-dev libssl-dev liblua5.4-dev
libgtest-dev libgmock-dev libbenchmark-dev python3 python3-pytest iproute2 mandoc"

case "${1-}" in
  '') ;;
  --dev) packages="$packages clang-format clang-tidy clang libclang-rt-14-dev libclang-14-dev llvm-14-dev
faketime user-mode-linux mpich libmpich-dev openmpi-bin libopenmpi-dev libpmix-dev" ;;
  --help) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) echo "deps.sh: unknown option $1; try --help" >&2; exit 2 ;;
esac

. "$(dirname "$0")/packages.sh"
find_missing "$packages"
[ -n "$missing" ] || exit 0

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

log=$(mktemp)
trap 'rm -f "$log"' EXIT
install_missing "$log"
