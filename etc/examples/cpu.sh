#!/bin/sh
#ARES --job-name=cpu
#ARES --ntasks=1
#ARES --cpus-per-task=2
#ARES --mem=200M
#ARES --time=5
#ARES --output=cpu-%j.out

# The batch script runs once, on the job's node, with everything the job was given.
echo "job $ARES_JOB_ID on $ARES_JOB_NODELIST with $ARES_CPUS_ON_NODE CPUs"
awk 'BEGIN { for (i = 1; i <= 100000; i++) sum += i; printf "sum %.0f\n", sum }'
