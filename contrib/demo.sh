#!/bin/sh
# Shows a real cluster at work, in a few minutes and on this machine alone: installs what is missing, builds, starts a private
# cluster in a temporary folder, runs the scripts of etc/examples/, checks what they printed and what accounting says, and
# cleans up.
#
#   contrib/demo.sh          exits 0 only if every job ended COMPLETED with the expected output and accounting row
#   contrib/demo.sh --keep   leaves the cluster running and says how to use it
set -eu
cd "$(dirname "$0")/.."
top=$(pwd)

keep=false
case "${1-}" in
  '') ;;
  --keep) keep=true ;;
  --help) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) echo "demo.sh: unknown option $1; try --help" >&2; exit 2 ;;
esac

say() { printf '\n== %s\n' "$*"; }

say "installing what is missing"
contrib/deps.sh

# With --keep all programs are built, because the user goes on with them.
programs="acluster aresctld aresd aresstepd asub aqueue aacct ainfo"
if $keep; then programs=programs; fi

say "building $programs (build/release)"
mkdir -p build
log=$(mktemp)
if ! { cmake --preset release && cmake --build --preset release -j "$(nproc)" --target $programs; } >"$log" 2>&1; then
  grep -v '^\[' "$log" >&2 || true
  rm -f "$log"
  echo "demo.sh: the build failed; see above" >&2
  exit 1
fi
rm -f "$log"

# PostgreSQL and jobs of other users must be able to pass through the folder.
work=$(mktemp -d)
chmod 755 "$work"
export ACLUSTER_DIR="$work/cluster"
acluster=$top/build/release/bin/acluster
clean_up() {
  status=$?
  trap - EXIT INT TERM
  if $keep && [ "$status" -eq 0 ]; then
    printf '\nThe cluster runs on in %s. Use it with:\n  eval "$(%s env --dir %s)"\nEnd it with:\n  %s down --dir %s\n' \
      "$ACLUSTER_DIR" "$acluster" "$ACLUSTER_DIR" "$acluster" "$ACLUSTER_DIR"
  else
    [ ! -e "$ACLUSTER_DIR" ] || "$acluster" down >/dev/null || true
    cd /
    rm -rf "$work"
  fi
  exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say "starting a private cluster: two nodes with four simulated GPUs each"
"$acluster" up --nodes=2 --gpus=a100:4
eval "$("$acluster" env)"
ainfo

say "submitting the scripts of etc/examples"
mkdir "$work/jobs"
cd "$work/jobs"
submit() {
  echo "\$ asub etc/examples/$1.sh" >&2
  asub --parsable "$top/etc/examples/$1.sh"
}
cpu=$(submit cpu)
gpu=$(submit gpu)
gang=$(submit gang)
array=$(submit array)

say "the queue"
aqueue

say "waiting until all have ended"
rows() { aacct -X -n -P -j "$1" -o JobID,State,ExitCode,NNodes,AllocTRES; }
ended=false
tries=0
while [ "$tries" -lt 300 ]; do
  if [ -z "$(aqueue -h -t PENDING,CONFIGURING,RUNNING,COMPLETING)" ]; then
    ended=true
    break
  fi
  tries=$((tries + 1))
  sleep 0.2
done
$ended || { aqueue; echo "demo.sh: jobs have not ended after a minute" >&2; exit 1; }

say "accounting"
aacct -X -j "$cpu,$gpu,$gang,$array" -o JobID,JobName,Partition,NNodes,AllocCPUS,AllocTRES%40,State,ExitCode,Elapsed

say "outputs"
head -n 20 ./*.out

say "checking"
failed=0
# check WHAT VALUE PATTERN: a basic regular expression for the whole line.
check() {
  if printf '%s\n' "$2" | grep -q -x -e "$3"; then
    echo "ok      $1"
  else
    echo "FAILED  $1: expected $3, got: $2"
    failed=$((failed + 1))
  fi
}
# row JOB NODES TRES: exactly one accounting row, COMPLETED, so many nodes, resources as told.
row() {
  check "accounting of job $1" "$(rows "$1")" "$1|COMPLETED|0:0|$2|.*$3.*"
}
row "$cpu" 1 'cpu=2'
row "$gpu" 1 'gres/gpu=2'
row "$gang" 2 'node=2'
check "rows of array $array" "$(rows "$array" | grep -c '|COMPLETED|0:0|1|')" 4
check "output of the CPU job" "$(tail -n 1 "cpu-$cpu.out")" 'sum 5000050000'
check "devices of the GPU job" "$(tail -n 1 "gpu-$gpu.out")" 'devices [0-3],[0-3]'
check "output of the gang" "$(cat "gang-$gang.out")" "job $gang has 2 nodes: n\[1-2\]"
for task in 1 2 3 4; do
  check "output of task $task" "$(cat "array-${array}_$task.out")" "task $task of 4: square $((task * task))"
done
if [ "$failed" -ne 0 ]; then
  echo "demo.sh: $failed checks failed" >&2
  exit 1
fi
say "all jobs ran, and accounting knows them"
