#!/bin/bash
#ARES --job-name=deepspeed
#ARES --nodes=2
#ARES --ntasks-per-node=2
#ARES --time=10
#ARES --output=deepspeed-%j.out

# ARES_HOSTFILE has a line "HOST slots=TASKS" for each node, as DeepSpeed reads it; with GPUs ask for as many as there are
# tasks: --gpus-per-node=2. Open MPI's mpirun starts the processes. The job's directory has ddp.py.
deepspeed --hostfile="$ARES_HOSTFILE" --launcher=openmpi \
  --master_addr="$MASTER_ADDR" --master_port="$MASTER_PORT" ddp.py
