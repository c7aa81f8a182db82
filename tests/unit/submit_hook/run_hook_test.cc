// Tests: hook_values, slurm_table
#include "submit/lua/run_hook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::submit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;
using Kind = HookAnswer::Kind;

HookCall call() {
  HookCall c;
  c.file = "/etc/ares/rules.lua";
  c.caller = 1000;
  c.time_limit_ms = 20'000;
  c.memory_limit = std::uint64_t{64} << 20;
  c.job = {{"name", std::string("train")},
           {"time_limit", 4294967294.0},
           {"account", {}},
           {"user_name", std::string("ann")},
           {"num_tasks", 4.0},
           {"pn_min_memory", 18446744073709551614.0}};
  c.read_only = {"user_name"};
  c.partitions = {{{"name", std::string("main")}, {"max_time", 60.0}, {"flag_default", 1.0}}};
  c.environment = {{"HOME", "/home/ann"}, {"OLD", "1"}};
  return c;
}

HookAnswer submit_with(const std::string& body) {
  return run_hook(
      call(), "function slurm_job_submit(job_desc, part_list, submit_uid)\n" + body + "\nend\n");
}

TEST(RunHook, FieldsCanBeReadAndSet) {
  const HookAnswer answer = submit_with(R"(
    if job_desc.time_limit == slurm.NO_VAL and job_desc.account == nil and
       job_desc.pn_min_memory == slurm.NO_VAL64 and submit_uid == 1000 then
      job_desc.time_limit = part_list["main"].max_time
      job_desc.account = "of " .. job_desc.user_name .. job_desc.num_tasks
      job_desc.num_tasks = nil
    end
    return slurm.SUCCESS)");
  ASSERT_EQ(answer.kind, Kind::accepted) << answer.problem;
  EXPECT_THAT(answer.changes,
              UnorderedElementsAre(Pair("time_limit", FieldValue(60.0)),
                                   Pair("account", FieldValue(std::string("of ann4"))),
                                   Pair("num_tasks", FieldValue())));
  EXPECT_TRUE(answer.environment.empty());
}

TEST(RunHook, RefusalsHaveTheMessagesForTheUser) {
  const HookAnswer answer = submit_with(R"(
    slurm.log_user("at most %d tasks", 3)
    slurm.log_info("user %s", job_desc.user_name)
    print("seen", 1, nil)
    return slurm.ESLURM_ACCESS_DENIED)");
  EXPECT_EQ(answer.kind, Kind::refused);
  EXPECT_THAT(answer.messages, ElementsAre("at most 3 tasks"));
  EXPECT_THAT(answer.log,
              ElementsAre(LogLine{"info", "user ann"}, LogLine{"info", "seen\t1\tnil"}));
}

TEST(RunHook, WhatIsNoFieldIsNamed) {
  EXPECT_THAT(submit_with("job_desc.acount = 'x'; return 0").problem,
              HasSubstr("rules.lua:2: job_desc has no field acount"));
  EXPECT_THAT(submit_with("job_desc.user_name = 'root'; return 0").problem,
              HasSubstr("job_desc.user_name cannot be set"));
  EXPECT_THAT(submit_with("job_desc.name = {}; return 0").problem,
              HasSubstr("job_desc.name cannot be a table"));
  EXPECT_EQ(submit_with("return job_desc.nothing == nil and 0 or 1").kind, Kind::accepted);
}

TEST(RunHook, EnvironmentCanBeChanged) {
  const HookAnswer answer = submit_with(R"(
    job_desc.environment["NEW"] = 7
    job_desc.environment["OLD"] = nil
    return job_desc.environment.HOME == "/home/ann" and 0 or 1)");
  ASSERT_EQ(answer.kind, Kind::accepted) << answer.problem;
  EXPECT_THAT(answer.environment, UnorderedElementsAre(Pair("NEW", FieldValue(std::string("7"))),
                                                       Pair("OLD", FieldValue())));
  EXPECT_THAT(submit_with("job_desc.environment[1] = 'x'; return 0").problem,
              HasSubstr("must be texts"));
}

TEST(RunHook, ErrorsOfTheScriptAreFailures) {
  EXPECT_THAT(run_hook(call(), "function x(").problem, HasSubstr("rules.lua:1:"));
  EXPECT_THAT(submit_with("error('no rule')").problem, HasSubstr("rules.lua:2: no rule"));
  EXPECT_THAT(submit_with("error({})").problem, HasSubstr("not a text"));
  EXPECT_THAT(submit_with("return part_list.gpu.max_time").problem, HasSubstr("nil value"));
  EXPECT_EQ(submit_with("return 'yes'").kind, Kind::accepted) << "as in Slurm";
  EXPECT_THAT(
      submit_with("").log,
      ElementsAre(LogLine{"info", "the function returned nil, which counts as slurm.SUCCESS"}));
  EXPECT_THAT(submit_with("job_desc.time_limit = math.huge return 0").problem,
              HasSubstr("cannot be infinite"));
  EXPECT_THAT(submit_with("slurm.user_msg('90% full') return -1").messages,
              ElementsAre("90% full"));
  EXPECT_THAT(run_hook(call(), "return 1 +").problem, HasSubstr("rules.lua:1:"));
  EXPECT_EQ(run_hook(call(), "x = 1").kind, Kind::accepted) << "no rule for submissions";
  EXPECT_THAT(run_hook(call(), "\x1bLua").problem, HasSubstr("binary"));
}

TEST(RunHook, LoopsEndAtTheTimeLimit) {
  HookCall limited = call();
  limited.time_limit_ms = 50;
  for (const char* loop :
       {"while true do end", "while true do pcall(function() while true do end end) end",
        "local function f() return f() end f()",
        "local c = coroutine.wrap(function() while true do end end) c()"}) {
    const HookAnswer answer =
        run_hook(limited, std::string("function job_submit()\n") + loop + "\nreturn 0\nend\n");
    EXPECT_EQ(answer.kind, Kind::failed) << loop;
    EXPECT_EQ(answer.problem, "it took longer than 50 ms") << loop;
  }
  EXPECT_EQ(run_hook(limited, "while true do end").problem, "it took longer than 50 ms");
}

TEST(RunHook, MemoryIsLimited) {
  HookCall limited = call();
  limited.memory_limit = std::uint64_t{4} << 20;
  const HookAnswer answer =
      run_hook(limited, "function job_submit() local t = {} while true do t[#t + 1] = {} end end");
  EXPECT_EQ(answer.kind, Kind::failed);
  EXPECT_EQ(answer.problem, "it needed more than 4 MiB of memory");
  EXPECT_EQ(run_hook(limited, "function job_submit() string.rep('x', 1 << 40) end").kind,
            Kind::failed);
  limited.memory_limit = 100;
  EXPECT_EQ(run_hook(limited, "").kind, Kind::failed);
}

TEST(RunHook, ChangesHaveTheRecordOfTheJob) {
  HookCall change = call();
  change.function = HookCall::Function::job_modify;
  change.environment.clear();
  change.record = {{"job_id", 7.0}, {"partition", std::string("main")}};
  const HookAnswer answer = run_hook(change, R"(
    function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
      slurm.user_msg(job_rec.job_id .. job_rec.partition .. part_list.main.flag_default .. modify_uid)
      return job_desc.environment == nil and slurm.ERROR or slurm.SUCCESS
    end)");
  EXPECT_EQ(answer.kind, Kind::refused) << answer.problem;
  EXPECT_THAT(answer.messages, ElementsAre("7main11000"));
}

TEST(RunHook, CallsDoNotShareState) {
  const std::string counts = "count = (count or 0) + 1\nfunction job_submit() return count - 1 end";
  EXPECT_EQ(run_hook(call(), counts).kind, Kind::accepted);
  EXPECT_EQ(run_hook(call(), counts).kind, Kind::accepted);
}

TEST(RunHook, FieldsCanBeListed) {
  const HookAnswer answer = submit_with(R"(
    local names = {}
    for name in pairs(job_desc) do names[#names + 1] = name end
    table.sort(names)
    slurm.log_user(table.concat(names, " "))
    return 0)");
  EXPECT_THAT(answer.messages,
              ElementsAre("environment name num_tasks pn_min_memory time_limit user_name"));
}

}  // namespace
}  // namespace ares::submit
