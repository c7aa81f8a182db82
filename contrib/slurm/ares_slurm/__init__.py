"""Slurm's commands in terms of those of Ares."""
