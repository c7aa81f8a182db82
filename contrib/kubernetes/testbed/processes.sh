# Processes of the test bed, and requests to its API server. Read by up.sh and add_node.sh, with `run`, `pki` and `api` set.
# shellcheck shell=bash disable=SC2154

start() { # NAME COMMAND...: in the background; restart.sh uses NAME.cmd and NAME.pid
  local name=$1
  shift
  printf '%q ' "$@" >"$run/$name.cmd"
  setsid "$@" >"$run/$name.log" 2>&1 </dev/null &
  echo $! >"$run/$name.pid"
}

wait_for() { # NAME SECONDS COMMAND...: until the command succeeds
  local name=$1 tries=$(($2 * 5)) i
  shift 2
  for ((i = 0; i < tries; i++)); do
    "$@" >/dev/null 2>&1 && return 0
    kill -0 "$(cat "$run/$name.pid")" 2>/dev/null || break
    sleep .2
  done
  echo "$name does not answer; the end of $run/$name.log:" >&2
  tail -5 "$run/$name.log" >&2
  return 1
}

ask() { curl -sf --cacert "$pki/ca.crt" --cert "$pki/admin.crt" --key "$pki/admin.key" "$api$1"; } # PATH
