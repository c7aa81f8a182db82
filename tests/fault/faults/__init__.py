"""A private cluster under faults of many kinds, the jobs that run on it meanwhile, and the verdict on them."""
