#!/bin/sh
# Builds the targets of tests/fuzz (libFuzzer, AddressSanitizer, UndefinedBehaviorSanitizer) and runs them.
#
#   contrib/fuzz.sh [TARGET...]              reads all inputs that are kept, and makes new ones for 20 seconds, all targets together
#   contrib/fuzz.sh --seconds N [TARGET...]  for N seconds each target; two targets at a time on two processors
#   contrib/fuzz.sh --keep [TARGET...]       adds to tests/fuzz/corpus those of the inputs made here that reach code no other does
#   contrib/fuzz.sh --coverage [TARGET...]   reads all inputs, those made here as well, and says how much of the readers they reach
#
# Inputs made here lie in build/fuzz/made. A finding lies in build/fuzz/findings; after the mending it goes to tests/fuzz/corpus.
set -eu
cd "$(dirname "$0")/.."

preset=fuzz
action=run
seconds=
targets=
while [ $# -gt 0 ]; do
  case "$1" in
    --seconds) seconds=${2-}; shift ;;
    --keep) action=keep ;;
    --coverage) action=cover preset=fuzz-coverage ;;
    --one) action=one seed=$2; shift ;; # for the run below
    --help) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) echo "fuzz.sh: unknown option $1; try --help" >&2; exit 2 ;;
    *) targets="$targets $1" ;;
  esac
  shift
done
case "${seconds:-0}" in *[!0-9]*) echo "fuzz.sh: --seconds takes a number" >&2; exit 2 ;; esac

build=build/$preset
made=build/fuzz/made
findings=build/fuzz/findings
export UBSAN_OPTIONS=print_stacktrace=1

# inputs_of TARGET: the folders with kept inputs; files of other purposes that a reader reads are inputs as well.
inputs_of() {
  [ ! -d "tests/fuzz/corpus/$1" ] || echo "tests/fuzz/corpus/$1"
  case "$1" in
    ares_yaml) echo etc ;;
    directives) echo etc/examples ;;
    topology) echo tests/data/topologies ;;
  esac
}

# one TARGET: runs it for $seconds.
one() {
  log=$findings/$1.log
  dictionary=
  [ ! -e "tests/fuzz/$1.dict" ] || dictionary="-dict=tests/fuzz/$1.dict"
  mkdir -p "$made/$1"
  : >"$log.start"
  # shellcheck disable=SC2046,SC2086  # one word each
  if "$build/fuzz/$1" -seed="$seed" -max_total_time="$seconds" -max_len=4096 -timeout=60 -rss_limit_mb=2048 -print_final_stats=1 \
      -artifact_prefix="$findings/$1-" $dictionary "$made/$1" $(inputs_of "$1") >"$log" 2>&1; then
    awk -v target="$1" '
      / cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") edges = $(i + 1) }
      /number_of_executed_units/ { runs = $2 }
      END { printf "%-14s %9d inputs read, %6d edges reached\n", target, runs, edges }' "$log"
  else
    # What was found, and where in the readers; not the progress before it, nor libFuzzer's own functions.
    sed -n '/^broken:\|ERROR: \|runtime error: /,/^SUMMARY/p' "$log" | grep -v ' fuzzer::\|libc.so\|libc_start\| in _start\|^NOTE\|^ *Combine'
    found=$(find "$findings" -type f -name "$1-*" -newer "$log.start" | head -n 1)
    echo "FAILED  $1: see $log; once more: $build/fuzz/$1 $found"
    if [ -n "$found" ]; then
      echo "The input, in base64:"
      base64 "$found"
    fi
    return 1
  fi
}

if [ "$action" = one ]; then
  for target in $targets; do one "$target"; done
  exit
fi

# shellcheck source=contrib/packages.sh
. contrib/packages.sh
packages="clang libclang-rt-14-dev"
[ "$action" != cover ] || packages="$packages llvm-14"
contrib/deps.sh
find_missing "$packages"
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
[ -z "$missing" ] || install_missing "$log/apt"

all=
for source in tests/fuzz/*.cc; do
  name=$(basename "$source" .cc)
  [ "$name" = target ] || all="$all $name"
done
for target in $targets; do
  case "$all " in *" $target "*) ;; *) echo "fuzz.sh: there is no target $target; there are$all" >&2; exit 2 ;; esac
done
: "${targets:=$all}"

{ cmake --preset "$preset" && cmake --build --preset "$preset" -j "$(nproc)"; } >"$log/build" 2>&1 || { grep -v '^\[' "$log/build"; exit 1; }
mkdir -p "$made" "$findings"

run() {
  jobs=$(nproc)
  seed=0 # a new one each time
  if [ -z "$seconds" ]; then
    seed=1 # so that a short run tells something about the change, and not about its luck
    # shellcheck disable=SC2086  # one word a target
    seconds=$(set -- $targets; echo $((20 * jobs / $#)))
    [ "$seconds" -gt 0 ] || seconds=1
    [ "$seconds" -le 20 ] || seconds=20
  fi
  # shellcheck disable=SC2086
  printf '%s\n' $targets | xargs -P "$jobs" -n 1 contrib/fuzz.sh --one "$seed" --seconds "$seconds"
}

# Only edges count here, not how often each was taken, so that few inputs are kept; the smallest that reaches an edge.
keep() {
  for target in $targets; do
    [ -d "$made/$target" ] || continue
    mkdir -p "tests/fuzz/corpus/$target"
    # shellcheck disable=SC2046
    "$build/fuzz/$target" -merge=1 -use_counters=0 -max_len=4096 "tests/fuzz/corpus/$target" "$made/$target" >"$log/merge" 2>&1 ||
      { tail -n 20 "$log/merge"; exit 1; }
    echo "$target: $(find "tests/fuzz/corpus/$target" -type f | wc -l) inputs"
  done
}

cover() {
  objects=
  for target in $targets; do
    new=
    [ ! -d "$made/$target" ] || new="$made/$target"
    # shellcheck disable=SC2046,SC2086
    LLVM_PROFILE_FILE="$log/$target.profraw" "$build/fuzz/$target" -runs=0 -timeout=60 $(inputs_of "$target") $new >"$log/run" 2>&1 ||
      { tail -n 20 "$log/run"; exit 1; }
    objects="$objects -object $build/fuzz/$target"
  done
  llvm-profdata-14 merge -sparse "$log"/*.profraw -o "$log/profile"
  # shellcheck disable=SC2086
  llvm-cov-14 report -instr-profile "$log/profile" -ignore-filename-regex '^/usr|(^|/)(gen|tests/fuzz)/' ${objects# -object} >"$log/report" 2>"$log/warnings" ||
    { cat "$log/warnings"; exit 1; }
  # File, lines and the share of them that ran.
  awk '$8 ~ /^[0-9]+$/ { printf "%6s lines %8s  %s\n", $8, $10, $1 }' "$log/report"
}

$action
