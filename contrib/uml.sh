#!/bin/sh
# Runs tests with the controllers of cgroup version 2 only, which most machines cannot switch to: in a User-Mode Linux, a kernel that runs as
# a process and boots from the root directory of this machine, read-only, in two seconds.
#
#   contrib/uml.sh                          test_os and test_exec of build/release
#   contrib/uml.sh [--preset NAME] [--filter FILTER] TEST...
#                                           these, e.g. test_os; FILTER as of --gtest_filter
#
# Installs Debian's package user-mode-linux. Prints each skipped test with its reason, and the output of failed ones; exits with 1 if a test
# failed. Tests that failed run once more in another guest, since a busy machine can make this one late: those that pass then are named. Its kernel has cpu, io, memory, pids and filters of devices, and one CPU; it has no cpuset and no version 1.
#
# The guest's memory is a file in $TMPDIR, which must allow executable mappings; the default is /dev/shm, or /tmp if that has no room.
# It needs ptrace(2) on its own children, as every container has that does not forbid it.
set -eu
cd "$(dirname "$0")/.."
top=$(pwd)

preset=release filter="" memory=1024 limit=300
while [ $# -gt 0 ]; do
  case "$1" in
    --preset) preset=$2; shift 2 ;;
    --filter) filter=$2; shift 2 ;;
    --help) sed -n '2,15s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) echo "uml.sh: unknown option $1; try --help" >&2; exit 2 ;;
    *) break ;;
  esac
done
if [ $# -eq 0 ]; then
  set -- test_os test_exec
  # Campaigns of kills test no control groups.
  [ -n "$filter" ] || filter='-Kill*:Mock*'
fi
for test; do
  [ -x "build/$preset/tests/$test" ] || { echo "uml.sh: build/$preset/tests/$test is not built" >&2; exit 2; }
done

. contrib/packages.sh
find_missing user-mode-linux
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -z "$missing" ] || install_missing "$work/log"

# The first process of the guest. It reads this file while it runs, which stays open when /tmp is hidden.
cat >"$work/init" <<INIT
#!/bin/sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t cgroup2 cgroup2 /sys/fs/cgroup
# Our own group is the root, which may have processes and pass its controllers on.
for controller in \$(cat /sys/fs/cgroup/cgroup.controllers); do echo +\$controller >/sys/fs/cgroup/cgroup.subtree_control; done
mount -t devtmpfs devtmpfs /dev 2>/dev/null
mkdir -p /dev/shm /dev/pts
for folder in /dev/shm /run /tmp /var/tmp; do mount -t tmpfs -o mode=1777 tmpfs \$folder; done
mount -t hostfs -o '$work' none /mnt
ip link set lo up 2>/dev/null
# A source tree below /tmp is hidden now.
[ -e '$top/contrib/uml.sh' ] || { mkdir -p '$top' && mount -t hostfs -o '$top' none '$top'; }
cat /sys/fs/cgroup/cgroup.controllers >/mnt/controllers
cd /tmp
for test in $*; do
  '$top/build/$preset/tests/'\$test --gtest_filter='$filter' --gtest_output=xml:/mnt/\$test.xml >/mnt/\$test.out 2>&1
  echo \$? >/mnt/\$test.status
done
echo 1 >/proc/sys/kernel/sysrq
sync
halt -f || echo o >/proc/sysrq-trigger
INIT
chmod +x "$work/init"

# Only for the guest's memory: the guest hides what lies below /dev, such as the folder of a second run.
room=${TMPDIR:-/tmp}
if [ -z "${TMPDIR-}" ] && [ "$(df --output=avail -k /dev/shm 2>/dev/null | tail -1)" -ge $((memory * 1024)) ] 2>/dev/null; then
  room=/dev/shm
fi
TMPDIR=$room timeout -k 5 "$limit" linux.uml "mem=${memory}M" root=/dev/root rootfstype=hostfs rootflags=/ ro init="$work/init" cgroup_no_v1=all \
  con0=fd:0,fd:1 con=null quiet panic=-1 </dev/null >"$work/console" 2>&1 || true

result=0
python3 - "$work" "$@" <<'COUNT' || result=1
import collections, pathlib, sys
import xml.etree.ElementTree as tree

work, tests = pathlib.Path(sys.argv[1]), sys.argv[2:]
total, failed, skipped = 0, 0, []
for test in tests:
    output = work / f"{test}.out"
    try:
        cases = list(tree.parse(work / f"{test}.xml").iter("testcase"))
        status = int((work / f"{test}.status").read_text())
    except (OSError, ValueError, tree.ParseError):
        print(output.read_text() if output.exists() else (work / "console").read_text(errors="replace"))
        print(f"uml.sh: {test} did not come to its end")
        (work / "unfinished").touch()
        total += 1
        failed += 1
        continue
    cases = [case for case in cases if case.get("status") == "run"]
    bad = [case for case in cases if case.find("failure") is not None]
    for case in cases:
        if case.find("skipped") is not None:
            reason = case.find("skipped").get("message", "").split("\n")[-1]
            skipped.append(f"skipped: {case.get('classname')}.{case.get('name')}: {reason}")
    if status or bad:
        print(output.read_text())
    if status and not bad:
        (work / "unfinished").touch()
    with open(work / "failed", "a") as names:
        names.writelines(f"{case.get('classname')}.{case.get('name')}\n" for case in bad)
    total += len(cases)
    failed += len(bad) or (1 if status else 0)
for line in skipped:
    print(line)
controllers = (work / "controllers").read_text().strip() if (work / "controllers").exists() else "none"
print(f"cgroup version 2 ({controllers}): {total - failed - len(skipped)} passed, {failed} failed, {len(skipped)} skipped")
sys.exit(1 if failed or not total else 0)
COUNT
if [ "$result" = 1 ] && [ -s "$work/failed" ] && [ ! -e "$work/unfinished" ] && [ -z "${ARES_UML_AGAIN-}" ]; then
  echo "== the failed ones once more"
  if ARES_UML_AGAIN=1 "$top/contrib/uml.sh" --preset "$preset" --filter "$(paste -sd: "$work/failed")" "$@"; then
    echo "failed once and passed then: mend them: $(paste -sd' ' "$work/failed")"
    result=0
  fi
fi
exit "$result"
