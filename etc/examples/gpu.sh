#!/bin/sh
#ARES --job-name=gpu
#ARES --gpus-per-node=2
#ARES --time=5
#ARES --output=gpu-%j.out

# CUDA_VISIBLE_DEVICES names the GPUs that are this job's alone.
echo "job $ARES_JOB_ID on $ARES_JOB_NODELIST"
echo "devices $CUDA_VISIBLE_DEVICES"
