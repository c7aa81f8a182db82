#!/bin/sh
#ARES --job-name=gang
#ARES --nodes=2
#ARES --ntasks-per-node=1
#ARES --time=5
#ARES --output=gang-%j.out

# Both nodes are given at the same moment or neither. The script runs on the first of them.
echo "job $ARES_JOB_ID has $ARES_JOB_NUM_NODES nodes: $ARES_JOB_NODELIST"
