-- Jobs with GPUs get no more CPUs than belong to their GPUs, so that no GPU is left without CPUs, and programs find the number of their
-- threads in OMP_NUM_THREADS.
--
-- ares.yaml:
--   submit_hook: {file: /etc/ares/submit_hooks/share_of_cpus.lua}

local cpus_of_a_gpu = 16

-- The GPUs of "gres/gpu:2" or "gres/gpu:a100:2,gres/gpu:h100:1"; 0 for nil. The first of alternatives counts.
local function count(tres)
  local sum = 0
  for item in string.gmatch(string.match(tres or "", "^[^|]*"), "[^,]+") do
    sum = sum + (tonumber(string.match(item, ":([%d.]+)$")) or 0)
  end
  return sum
end

function slurm_job_submit(job_desc, part_list, submit_uid)
  local tasks = job_desc.num_tasks == slurm.NO_VAL and 1 or job_desc.num_tasks
  local nodes = job_desc.min_nodes == slurm.NO_VAL and 1 or job_desc.min_nodes
  local gpus = count(job_desc.tres_per_job) + nodes * count(job_desc.tres_per_node) + tasks * count(job_desc.tres_per_task)
  local cpus = tasks * job_desc.cpus_per_task
  if gpus > 0 and cpus > gpus * cpus_of_a_gpu then
    slurm.log_user("%d CPUs are too many for %g GPUs: ask for at most %d CPUs with each GPU", cpus, gpus, cpus_of_a_gpu)
    return slurm.ERROR
  end
  if job_desc.environment["OMP_NUM_THREADS"] == nil then
    job_desc.environment["OMP_NUM_THREADS"] = tostring(job_desc.cpus_per_task)
  end
  return slurm.SUCCESS
end
