#!/bin/bash
#ARES --job-name=torchrun
#ARES --nodes=2
#ARES --ntasks-per-node=1
#ARES --cpus-per-task=2
#ARES --time=10
#ARES --output=torchrun-%j.out

# One torchrun on each node, which starts as many processes as the job has GPUs there, or else CPUs. The name of the
# meeting has the number of the attempt, so that a process of an earlier one cannot join. The job's directory has ddp.py.
processes=${ARES_GPUS_ON_NODE:-$ARES_CPUS_PER_TASK}
torchrun=(torchrun)
command -v torchrun > /dev/null || torchrun=(python3 -m torch.distributed.run)

OMP_NUM_THREADS=1 arun "${torchrun[@]}" \
  --nnodes="$ARES_JOB_NUM_NODES" --nproc_per_node="$processes" \
  --rdzv_id="$ARES_JOB_ID.${ARES_RESTART_COUNT:-0}" \
  --rdzv_backend=c10d --rdzv_endpoint="$MASTER_ADDR:$MASTER_PORT" \
  ddp.py
