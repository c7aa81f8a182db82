-- Every job has an account and a time limit, and users cannot set a priority.
--
-- ares.yaml:
--   submit_hook: {file: /etc/ares/submit_hooks/require_limits.lua}

local longest_default = 60 -- minutes, for jobs that give no time limit

function slurm_job_submit(job_desc, part_list, submit_uid)
  if job_desc.account == nil then
    job_desc.account = job_desc.default_account
  end
  if job_desc.account == nil then
    slurm.log_user("give an account: asub --account=NAME; aacctmgr show user %s lists yours", job_desc.user_name)
    return slurm.ESLURM_INVALID_ACCOUNT
  end
  if job_desc.time_limit == slurm.NO_VAL then
    job_desc.time_limit = longest_default
    slurm.log_user("no time limit was given; it is %d minutes", longest_default)
  end
  if job_desc.priority ~= slurm.NO_VAL and job_desc.priority ~= 0 and submit_uid ~= 0 then
    slurm.log_user("only the administrators may set a priority")
    return slurm.ERROR
  end
  return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
  -- An account that is taken back would leave the job without one.
  if job_desc.account == "" then
    slurm.log_user("job %d needs an account", job_rec.job_id)
    return slurm.ERROR
  end
  return slurm.SUCCESS
end
