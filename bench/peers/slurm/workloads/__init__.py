"""The workloads. A workload is a function of a World that returns figures by key (see figures.py) and, under "raw", other data to
keep. Its system was just started and has no jobs."""
import random


class World:
    """One run of one workload: the system, the group that counts CPU time, the sizes, and the same random numbers for every system."""

    def __init__(self, system, group, sizes, round_number):
        self.system, self.group, self.sizes = system, group, sizes
        self.random = random.Random(round_number)
