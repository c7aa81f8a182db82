-- Jobs that name no partition go where their resources are: GPUs to `gpu`, short jobs to `debug`, the rest to the default partition.
-- A partition that the cluster does not have is left out.
--
-- ares.yaml:
--   submit_hook: {file: /etc/ares/submit_hooks/route_by_resources.lua}

local short = 30 -- minutes

local function wants_gpus(job_desc)
  return job_desc.tres_per_job ~= nil or job_desc.tres_per_node ~= nil or job_desc.tres_per_task ~= nil
end

function slurm_job_submit(job_desc, part_list, submit_uid)
  local gpus = wants_gpus(job_desc)
  if job_desc.partition == nil then
    if gpus and part_list["gpu"] ~= nil then
      job_desc.partition = "gpu"
    elseif not gpus and job_desc.time_limit <= short and part_list["debug"] ~= nil then
      job_desc.partition = "debug"
    end
  elseif job_desc.partition == "gpu" and not gpus then
    slurm.log_user("partition gpu is for jobs with GPUs: give --gpus, or leave --partition out")
    return slurm.ERROR
  end
  return slurm.SUCCESS
end
