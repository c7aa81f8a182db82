#!/bin/sh
# Builds Ares and runs its tests.
#
#   contrib/test.sh          the release build, all tests
#   contrib/test.sh --asan   also all but the slow and end-to-end tests under AddressSanitizer and UndefinedBehaviorSanitizer
#   contrib/test.sh --all    what .ci/run does: unit tests only under AddressSanitizer, but for those of processes and of the controller,
#                            some of which sanitizers disturb; and those of the engine, the journal and of calls over local sockets
#                            under ThreadSanitizer; not of calls over TCP: Debian's gRPC is not built for it and synchronises unseen,
#                            so nearly every call would be reported
#
# A test that fails beside others is run once more alone: a machine that is too busy can make a test late. It is named if it passes then,
# and should be mended. Tests of faults, simulations and invariants get no second run, and none under sanitizers.
#
# Ends with one line: N passed, N failed.
set -eu
cd "$(dirname "$0")/.."

optimised=release
asan=false
tsan=false
case "${1-}" in
  '') ;;
  --asan) asan=true ;;
  --all) optimised=ci asan=true tsan=true ;;
  --help) sed -n '2,15s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) echo "test.sh: unknown option $1; try --help" >&2; exit 2 ;;
esac

contrib/deps.sh

log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
status=0

# check PRESET [TARGET]: configures, builds, tests. Goes on after failed tests, so that one run shows them all.
check() {
  echo "== $1 ($(date +%H:%M))"
  # Quiet unless it fails: what a reader wants to find then is the compiler's message.
  cmake --preset "$1" >"$log/out" 2>&1 || { cat "$log/out"; exit 1; }
  cmake --build --preset "$1" -j 2 ${2:+--target "$2"} >"$log/out" 2>&1 || { grep -v '^\[' "$log/out"; exit 1; }
  echo "built ($(date +%H:%M))"
  rm -f "build/$1/Testing/Temporary/LastTestsFailed.log"
  if ctest --preset "$1" -j "${jobs:-2}" >"$log/out" 2>&1; then
    sed -n '/tests passed/,$p' "$log/out"
  else
    grep -v ' Passed \|^ *Start ' "$log/out"
    if [ "$1" = "$optimised" ]; then again; else status=1; fi
  fi
  cat "$log/out" >>"$log/all"
  cases "$1" >>"$log/all"
}

# cases PRESET: how many more cases than tests have run, and how many of them were skipped, where a test is a part of a program's cases.
cases() {
  awk '/^\[==========\] Running [0-9]+ tests? / { more += $3 - 1; cases = $3 }
    /^\[  SKIPPED \] [0-9]+ tests?, listed/ && cases > 1 { skipped += $4 == cases ? $4 - 1 : $4 }
    END { printf "%d more cases, %d skipped\n", more, skipped }' "build/$1/Testing/Temporary/LastTest.log"
}

# Runs the failed tests of the optimised build alone. Each must pass for the run to pass.
again() {
  sed 's/^[0-9]*://' "build/$optimised/Testing/Temporary/LastTestsFailed.log" >"$log/names"
  failed=$(sed -n 's/.* tests passed, \([0-9]*\) tests failed out of.*/\1/p' "$log/out")
  [ "$(wc -l <"$log/names")" = "$failed" ] || { status=1; return; }
  while read -r name <&3; do
    pattern="^$(printf '%s' "$name" | sed 's/[][\\.*^$+?(){}|]/\\&/g')\$"
    # Not by the preset: it excludes other labels, and ctest leaves out only what both exclude.
    if ! ctest --test-dir "build/$optimised" -N -R "$pattern" -L '^(fault|sim|property)$' | grep -q "Test *#" &&
      ctest --preset "$optimised" -j 1 -R "$pattern" </dev/null >"$log/alone" 2>&1; then
      echo "$name" >>"$log/passed_alone"
    else
      status=1
    fi
  done 3<"$log/names"
}

# Tests of whole clusters wait more than they compute.
jobs=3
check "$optimised"
jobs=2
if $asan; then check asan; fi
if $tsan; then check tsan tsan_tests; fi

# ctest's own sums ("98% tests passed, 1 tests failed out of 50"), in which skipped tests count as passed.
alone=0
if [ -e "$log/passed_alone" ]; then
  alone=$(wc -l <"$log/passed_alone")
  echo "== failed beside other tests and passed alone: mend them"
  cat "$log/passed_alone"
fi
awk -v alone="$alone" '/\*\*\*Skipped/ { skipped++ }
  /tests passed, .* tests failed out of/ { failed += $4; total += $NF }
  / more cases, .* skipped$/ { total += $1; skipped += $4 }
  END {
    failed -= alone
    printf "%d passed, %d failed", total - failed - skipped, failed
    if (alone) printf ", %d only alone", alone
    if (skipped) printf ", %d skipped", skipped
    print ""
  }' "$log/all"
exit $status
