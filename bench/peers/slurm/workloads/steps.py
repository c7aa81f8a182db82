"""Steps within one job: what arun and srun take, as the batch script sees it."""
import json

from lib.measure import summary

# In the batch script, so that neither submission nor scheduling counts.
PROGRAM = """#!/usr/bin/python3
import json, subprocess, sys, time
step, alone, many = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def run(*words):
    begin = time.monotonic()
    subprocess.run([step, *words], check=True, stdin=subprocess.DEVNULL)
    return (time.monotonic() - begin) * 1e3
run("-n1", "true")
times = [run("-n1", "true") for _ in range(alone)]
wide = run("-O", f"-n{many}", "true")
json.dump({"alone": times, "wide": wide}, open(sys.argv[4], "w"))
"""


def steps(world):
    system, sizes = world.system, world.sizes
    script = system.script("steps.py", PROGRAM)
    result = system.work / "steps.json"
    system.run(system.submit(script, system.step_program, str(sizes.steps_alone), str(sizes.steps_tasks), str(result)))
    system.wait_done()
    found = json.loads(result.read_text())
    times = summary(found["alone"])
    return {"steps.p50": times["p50"], "steps.p99": times["p99"], "steps.wide": found["wide"] / 1e3, "raw": found}
