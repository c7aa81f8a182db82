#!/usr/bin/env python3
"""Trains a line with PyTorch's DistributedDataParallel on all processes of a job: see ddp.sh and torchrun.sh."""
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

# RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are set by arun, or by torchrun.
gpus = torch.cuda.is_available()
dist.init_process_group("nccl" if gpus else "gloo")
rank, size, local = dist.get_rank(), dist.get_world_size(), int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", local) if gpus else torch.device("cpu")

torch.manual_seed(0)
model = DistributedDataParallel(torch.nn.Linear(1, 1).to(device), device_ids=[local] if gpus else None)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# Each process has another part of the data of y = 3x + 1.
x = torch.linspace(-1 + 2 * rank / size, -1 + 2 * (rank + 1) / size, 64, device=device).unsqueeze(1)
for _ in range(400):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), 3 * x + 1)
    loss.backward()
    optimizer.step()

slope, offset = (parameter.item() for parameter in model.module.parameters())
print(f"rank {rank} of {size} on {os.uname().nodename}: y = {slope:.2f} x + {offset:.2f}", flush=True)
dist.destroy_process_group()
