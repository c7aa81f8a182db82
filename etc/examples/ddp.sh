#!/bin/bash
#ARES --job-name=ddp
#ARES --nodes=2
#ARES --ntasks-per-node=2
#ARES --cpus-per-task=1
#ARES --time=10
#ARES --output=ddp-%j.out

# One task for each process of PyTorch. With GPUs ask for as many as there are tasks: --gpus-per-node=2.
# The job's directory has ddp.py.
arun python3 ddp.py
