// Tests: prepare
// What asub sends besides a specification: the script, the environment, limits of the shell; and the exit code of --wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/jobs/wait.h"
#include "submission/process_context.h"
#include "submission/script.h"

namespace ares::submission {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class ScriptFile : public testing::Test {
 protected:
  ScriptFile()
      : folder_(std::filesystem::temp_directory_path() /
                ("ares-script-" + std::to_string(getpid()))) {
    std::filesystem::create_directory(folder_);
  }
  ~ScriptFile() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return (folder_ / name).string();
  }
  std::string refusal(const std::string& operand) {
    const auto script = read_script(operand, folder_.string(), "");
    if (!script) return script.error().message;
    const Status good = check_script(*script);
    return good ? "accepted" : good.error().message;
  }
  std::filesystem::path folder_;
};

TEST_F(ScriptFile, WorkingDirectoryPrecedesPath) {
  write("job.sh", "#!/bin/sh\n");
  std::filesystem::create_directory(folder_ / "bin");
  write("bin/other.sh", "#!/bin/sh\n: other\n");
  write("bin/job.sh", "#!/bin/sh\n: wrong\n");
  const std::string path = (folder_ / "bin").string();
  EXPECT_EQ(read_script("job.sh", folder_.string(), path)->content, "#!/bin/sh\n");
  EXPECT_EQ(read_script("./job.sh", folder_.string(), path).has_value(),
            std::filesystem::exists("./job.sh"))
      << "with a slash only that file is meant";
  const auto other = read_script("other.sh", folder_.string(), path);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->path, path + "/other.sh");
}

TEST_F(ScriptFile, SrunThatIsNotThereIsWarnedOf) {
  const auto warning = [&](const std::string& text) {
    return warn_of_srun({text, "", "job.sh"}, folder_.string() + ":/nonexistent");
  };
  EXPECT_THAT(warning("#!/bin/bash\n#SBATCH -N2\n  srun -n 4 ./model\n"),
              StartsWith("job.sh calls srun"));
  EXPECT_THAT(warning("#!/bin/sh\nsrun\n"), HasSubstr("arun"));
  EXPECT_EQ(warning("#!/bin/bash\n# srun ./model\necho srun\nsruns\n"), "");
  EXPECT_NE(warning("#! /bin/bash -l\nsrun ./model\n"), "");
  EXPECT_NE(warning("#!/usr/bin/env -S bash -e\nsrun ./model\n"), "");
  EXPECT_EQ(warning("#!/usr/bin/python3\nsrun = 1\n"), "") << "another language";
  EXPECT_EQ(warning("#!/bin/bash\nsrun() { \"$@\"; }\nsrun ./model\n"), "") << "its own function";
  write("srun", "#!/bin/sh\n");
  EXPECT_NE(warning("#!/bin/bash\nsrun ./model\n"), "") << "not a program";
  chmod((folder_ / "srun").c_str(), 0755);
  EXPECT_EQ(warning("#!/bin/bash\nsrun ./model\n"), "");
}

TEST_F(ScriptFile, BadScriptsAreRefusedWithTheReason) {
  EXPECT_THAT(refusal("missing.sh"),
              HasSubstr("cannot read the batch script missing.sh: No such file"));
  EXPECT_THAT(refusal(folder_.string()), HasSubstr("Is a directory"));
  EXPECT_THAT(refusal(write("empty.sh", "")), HasSubstr("is empty"));
  EXPECT_THAT(refusal(write("binary", std::string("\177ELF\0\1", 6))),
              HasSubstr("is a binary file"));
  EXPECT_THAT(refusal(write("plain.sh", "echo hi\n")),
              HasSubstr("This does not look like a batch script"));
  EXPECT_THAT(
      refusal(write("marked.sh", "\xef\xbb\xbf#!/bin/sh\n")),
      HasSubstr("byte order mark of UTF-8, which hides #! from the kernel; remove it: sed -i "
                "'1s/^\\xef\\xbb\\xbf//' "));
  EXPECT_THAT(refusal(write("bare.sh", "#!\necho hi\n")), HasSubstr("no interpreter"));
  EXPECT_THAT(refusal(write("dos.sh", "#!/bin/sh\necho\r\n")),
              HasSubstr("dos.sh:2: the line ends as on DOS"));
  EXPECT_THAT(refusal(write("big.sh", "#!/bin/sh\n" + std::string(kMaxScriptBytes, '#'))),
              HasSubstr("too big"));
  EXPECT_EQ(refusal(write("good.sh", "#!/bin/sh\necho hi\n")), "accepted");
}

TEST(WrapCommand, IsARunnableScript) {
  const Script script = wrap_command("echo hi");
  EXPECT_TRUE(check_script(script));
  EXPECT_THAT(script.content, HasSubstr("\necho hi\n"));
}

std::string variables(const std::string& list) {
  const auto packed =
      environment_for(list, {"A=1", "B=2 3", "ARES_X=y", "HOME=/h", "PATH=/opt/bin"});
  if (!packed) return packed.error().message;
  std::string out = *packed;
  for (char& c : out)
    if (c == '\0') c = ';';
  return out;
}

TEST(Environment, FollowsTheExportList) {
  EXPECT_EQ(variables("ALL"), "A=1;ARES_X=y;B=2 3;HOME=/h;PATH=/opt/bin;");
  EXPECT_EQ(variables("NONE"), "ARES_X=y;HOME=/h;PATH=/usr/local/bin:/usr/bin:/bin;");
  EXPECT_EQ(variables("NIL"), "");
  EXPECT_EQ(variables("A,C=x=y"), "A=1;ARES_X=y;C=x=y;HOME=/h;PATH=/usr/local/bin:/usr/bin:/bin;");
  EXPECT_EQ(variables("ALL,B=new"), "A=1;ARES_X=y;B=new;HOME=/h;PATH=/opt/bin;");
  EXPECT_EQ(variables("NIL,A"), "A=1;");
  EXPECT_EQ(variables("NONE,A,C=3"), "A=1;ARES_X=y;C=3;HOME=/h;PATH=/usr/local/bin:/usr/bin:/bin;");
  EXPECT_EQ(variables("ALL,NONE"), "--export: \"ALL,NONE\" names ALL and NONE; leave one out");
  EXPECT_EQ(variables("C='1,2'"), "ARES_X=y;C=1,2;HOME=/h;PATH=/usr/local/bin:/usr/bin:/bin;");
  EXPECT_EQ(variables("C='1,2"), "--export: a quote is not closed");
  EXPECT_EQ(variables("=x"), "--export: an empty name in \"=x\"");
}

TEST(SubmitContext, IncludeLimitsUmaskHostAndTimeZone) {
  api::JobSpec s;
  const mode_t before = umask(027);
  add_process_context(s);
  umask(before);
  EXPECT_EQ(s.umask(), 027u);
  EXPECT_GT(s.limits_size(), 10);
  EXPECT_NE(s.submit_host(), "");
  EXPECT_NE(s.submit_zone(), "");
}

TEST(Wait, ExitCodeIsTheHighestOfAnArray) {
  api::Jobs jobs;
  api::Job* array = jobs.add_jobs();
  array->set_state("FAILED");
  array->mutable_spec()->set_array("0-1");
  array->mutable_key()->set_job(7);
  for (const int code : {0, 3}) {
    api::Job* task = jobs.add_jobs();
    task->mutable_key()->set_job(7);
    task->mutable_key()->set_task(static_cast<std::uint32_t>(code));
    task->mutable_spec()->set_array("0-1");
    task->set_state(code ? "FAILED" : "COMPLETED");
    task->set_exit_code(code);
  }
  EXPECT_EQ(cli::exit_code_of(jobs), 3);
}

TEST(Wait, ArrayWhoseTasksNeverRanIsAFailure) {
  api::Jobs jobs;
  api::Job* array = jobs.add_jobs();
  array->mutable_spec()->set_array("0-1");
  array->set_state("CANCELLED");
  EXPECT_EQ(cli::exit_code_of(jobs), 1);
  array->set_state("COMPLETED");
  EXPECT_EQ(cli::exit_code_of(jobs), 0);
}

TEST(Wait, JobThatDidNotCompleteIsAFailure) {
  api::Jobs jobs;
  api::Job* job = jobs.add_jobs();
  job->set_state("CANCELLED");
  EXPECT_EQ(cli::exit_code_of(jobs), 1);
  job->set_state("FAILED");
  job->set_exit_signal(9);
  EXPECT_EQ(cli::exit_code_of(jobs), 137);
}

}  // namespace
}  // namespace ares::submission
