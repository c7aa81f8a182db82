#!/bin/bash
#ARES --job-name=ray
#ARES --nodes=2
#ARES --ntasks-per-node=1
#ARES --cpus-per-task=2
#ARES --time=10
#ARES --output=ray-%j.out

# A Ray cluster for the time of the job: its head on the first node, a worker on each other one. squares.py connects to
# RAY_ADDRESS. The cluster ends with the script.
first=$ARESD_NODENAME
export RAY_ADDRESS=$MASTER_ADDR:$MASTER_PORT

arun -N1 -n1 -w "$first" ray start --head --block --disable-usage-stats \
  --node-ip-address="$MASTER_ADDR" --port="$MASTER_PORT" --num-cpus="$ARES_CPUS_PER_TASK" &
until ray status > /dev/null 2>&1; do sleep 1; done

if [ "$ARES_JOB_NUM_NODES" -gt 1 ]; then
  arun -N$((ARES_JOB_NUM_NODES - 1)) -n$((ARES_JOB_NUM_NODES - 1)) -x "$first" \
    ray start --block --disable-usage-stats --address="$RAY_ADDRESS" --num-cpus="$ARES_CPUS_PER_TASK" &
fi

python3 squares.py
