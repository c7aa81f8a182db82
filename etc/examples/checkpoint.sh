#!/bin/sh
#ARES --job-name=training
#ARES --time=10
#ARES --requeue
#ARES --checkpoint=checkpoints
#ARES --signal=USR1@60
#ARES --open-mode=append
#ARES --output=training-%j.out

# The signal goes to everything that this script has started. It must not end the program before that handles it.
trap '' USR1
python3 "${TRAINING:-checkpoint_training.py}" "$@"
