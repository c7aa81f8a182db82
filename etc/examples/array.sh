#!/bin/sh
#ARES --job-name=array
#ARES --array=1-4
#ARES --time=5
#ARES --output=array-%A_%a.out

# One submission, four jobs: each finds its own number in ARES_ARRAY_TASK_ID.
echo "task $ARES_ARRAY_TASK_ID of $ARES_ARRAY_TASK_COUNT: square $((ARES_ARRAY_TASK_ID * ARES_ARRAY_TASK_ID))"
