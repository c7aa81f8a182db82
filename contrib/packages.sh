# What scripts that install Debian packages share; they source it. Errors are told under the script's own name and end it.

script=$(basename "$0")

# find_missing PACKAGES: sets `missing` to those that are not installed, each behind a blank, and `as_root` to what runs a command as
# root; "" where that is not needed.
find_missing() {
  # shellcheck disable=SC2086  # one line
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "$script: this is no Debian system; install by hand what corresponds to:" $1 >&2
    exit 1
  fi
  missing=""
  for package in $1; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
  done
  as_root=""
  [ -n "$missing" ] && [ "$(id -u)" -ne 0 ] || return 0
  if ! command -v sudo >/dev/null; then
    echo "$script: missing:$missing" >&2
    echo "$script: run this as root, or install sudo" >&2
    exit 1
  fi
  as_root="sudo"
}

apt() { $as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -q -y "$@"; }

# install_missing LOG: what apt-get says goes to that file, and is shown if it fails.
install_missing() {
  echo "$script: installing$missing"
  # shellcheck disable=SC2086  # one word a package
  if ! { apt update && apt -o Dpkg::Options::=--force-confold install --no-install-recommends $missing; } >"$1" 2>&1; then
    cat "$1" >&2
    echo "$script: apt-get failed; see above" >&2
    exit 1
  fi
}
