#!/usr/bin/env python3
"""Adds up squares on all nodes of a Ray cluster: see ray.sh."""
import os
import time

import ray

ray.init(address=os.environ["RAY_ADDRESS"])
nodes = int(os.environ["ARES_JOB_NUM_NODES"])
while len(ray.nodes()) < nodes:  # workers join one after the other
    time.sleep(0.5)


@ray.remote
def square(x):
    return x * x


print("sum", sum(ray.get([square.remote(x) for x in range(100)])))
