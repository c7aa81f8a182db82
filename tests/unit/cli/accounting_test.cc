// Tests: aacct/fields, field_table, field_groups, usage_fields, refused_fields, filter_options, step_lines, aacct/values
// The request of aacct, and how it prints the reply.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aacct/print.h"
#include "aacct/query.h"
#include "base/timespec.h"
#include "cli/output/text.h"
#include "cli/output/yaml.h"
#include "unit/cli/answers.h"

namespace ares::aacct {
namespace {

using answers::kNow;
using answers::kSecond;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const Time kTime{Duration(kNow)};

using Accounting = answers::InUtc;

api::AccountingRow row(std::uint64_t id) {
  api::AccountingRow out;
  out.mutable_key()->set_job(id);
  out.set_own_id(id);
  out.set_name("wrap");
  out.set_partition("main");
  out.set_account("physics");
  out.set_cpus(4);
  out.set_node_count(2);
  out.set_state("COMPLETED");
  out.set_node_list("n[1-2]");
  out.set_submitted(kNow - 90100 * kSecond);
  out.set_eligible(kNow - 90100 * kSecond);
  out.set_started(kNow - 90061 * kSecond);
  out.set_ended(kNow);
  out.set_user_cpu(1'500'000);
  out.set_max_rss(3 << 20);
  out.set_disk_written(5 << 20);
  out.set_max_disk_written(4 << 20);
  out.set_requested_tres("billing=4,cpu=4,gres/gpu=2,gres/gpu:a100=2,mem=8192M,node=2");
  out.set_allocated_tres("billing=4,cpu=4,gres/gpu=2,gres/gpu:a100=2,mem=8192M,node=2");
  return out;
}

Status parse(const cli::OptionTable& table, const std::vector<std::string>& words) {
  const auto parsed = cli::parse_options(table, words);
  if (!parsed) return fail(parsed.error());
  return cli::apply_options(parsed->given);
}

std::string print(const std::vector<api::AccountingRow>& rows,
                  const std::vector<std::string>& words = {}, unsigned terminal = 0) {
  Query query;
  const cli::OptionTable table = options(query, kTime);
  if (Status parsed = parse(table, words); !parsed) return parsed.error().message;
  const auto chosen = parse_fields(query.format);
  if (!chosen) return chosen.error().message;
  std::string out;
  const auto printer =
      make_printer(query, *chosen, terminal, [&](std::string_view text) { out += text; });
  // One row per page.
  for (std::size_t i = 0; i < std::max<std::size_t>(rows.size(), 1); ++i) {
    api::AccountingRows page;
    page.set_now(kNow);
    page.set_cluster("demo");
    if (i < rows.size()) *page.add_rows() = rows[i];
    printer->page(page);
  }
  printer->finish();
  return out;
}

// The texts of these fields of one row.
std::string values(const api::AccountingRow& row, const std::string& fields,
                   std::vector<std::string> words = {}) {
  words.insert(words.end(), {"-n", "-P", "-o", fields});
  std::string text = print({row}, words);
  text.pop_back();
  return text;
}

TEST_F(Accounting, DefaultFieldsAreAsWideAsNeeded) {
  api::AccountingRow cancelled = row(123456789012345);
  cancelled.set_state("CANCELLED");
  cancelled.set_cancelled_by(1001);
  cancelled.set_exit_signal(15);
  EXPECT_EQ(
      print({row(7), cancelled}),
      "JobID              JobName  Partition    Account  AllocCPUS             State ExitCode\n"
      "--------------- ---------- ---------- ---------- ---------- ----------------- --------\n"
      "7                     wrap       main    physics          4         COMPLETED      0:0\n"
      "123456789012345       wrap       main    physics          4 CANCELLED by 1001     0:15\n");
  EXPECT_EQ(print({}),
            "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode\n"
            "------------ ---------- ---------- ---------- ---------- ---------- --------\n");
}

api::AccountingStep step(std::int64_t number, std::int32_t code) {
  api::AccountingStep out;
  out.set_number(number);
  out.set_name(number < 0 ? "batch" : "prog");
  out.set_state(code == 0 ? "COMPLETED" : "FAILED");
  out.set_exit_code(code);
  out.set_started(kNow - 10 * kSecond);
  out.set_ended(kNow);
  out.set_tasks(2);
  out.set_cpus(2);
  out.set_node_count(1);
  out.set_node_list("n2");
  out.set_user_cpu(3'000'000);
  out.set_system_cpu(1'000'000);
  out.set_max_rss(2 << 20);
  out.set_sum_rss(3 << 20);
  out.set_disk_read(1 << 20);
  return out;
}

api::AccountingRow row_with_steps() {
  api::AccountingRow out = row(7);
  *out.add_steps() = step(-1, 9);
  *out.add_steps() = step(0, 0);
  *out.add_steps() = step(1, 3);
  *out.add_steps() = step(std::int64_t{1} << 32, 0);
  return out;
}

TEST_F(Accounting, StepsFollowTheirJob) {
  const std::vector<std::string> words{"-n", "-P", "-o",
                                       "JobID,JobName,State,ExitCode,DerivedExitCode"};
  EXPECT_EQ(print({row_with_steps()}, words),
            "7|wrap|COMPLETED|0:0|3:0\n"
            "7.batch|batch|FAILED|9:0|\n"
            "7.0|prog|COMPLETED|0:0|\n"
            "7.1|prog|FAILED|3:0|\n"
            "7.others|prog|COMPLETED|0:0|\n");
}

TEST_F(Accounting, AllocationsAreJobsWithoutTheirSteps) {
  EXPECT_EQ(print({row_with_steps()}, {"-X", "-n", "-P", "-o", "JobID"}), "7\n");
}

TEST_F(Accounting, StepsThatAreNamedAreShownAlone) {
  const auto ids = [](const std::string& named) {
    return print({row_with_steps()}, {"-j", named, "-n", "-P", "-o", "JobID"});
  };
  EXPECT_EQ(ids("7.batch"), "7.batch\n");
  EXPECT_EQ(ids("7.0,7.1"), "7.0\n7.1\n");
  EXPECT_EQ(ids("7.9"), "");
  EXPECT_EQ(ids("7.0,7"), "7\n7.batch\n7.0\n7.1\n7.others\n");
  EXPECT_EQ(ids("8,7.0"), "7.0\n");
}

TEST_F(Accounting, StepHasItsOwnNumbers) {
  EXPECT_EQ(print({row_with_steps()},
                  {"-j", "7.0", "-n", "-P", "-o",
                   "NTasks,AllocCPUS,NNodes,NodeList,Elapsed,TotalCPU,UserCPU,SystemCPU,AveCPU,"
                   "MaxRSS,AveRSS,DiskRead,Timelimit,ReqMem,User,Account"}),
            "2|2|1|n2|00:00:10|00:04.000|00:03.000|00:01.000|00:02.000|2M|1.50M|1M||||physics\n");
}

TEST_F(Accounting, NarrowTerminalShortensAllColumnsButIds) {
  api::AccountingRow wide = row(123456789012345);
  wide.set_name("a-name-that-is-quite-long");
  wide.set_account("of-a-long-account");
  EXPECT_EQ(print({wide}, {"-n"}, 90),
            "123456789012345 a-name-that-is-quite-long main of-a-long-account     4  COMPLETED     "
            " 0:0\n")
      << "blanks of columns go first";
  EXPECT_EQ(print({wide}, {"-n"}, 80),
            "123456789012345 a-name-that-is-quite-long main of-a-long-account 4 COMPLETED 0:0\n");
  EXPECT_EQ(print({wide}, {"-n"}, 76),
            "123456789012345 a-name-that-is-quite+ main of-a-long-account 4 COMPLETED 0:0\n");
  for (const std::string& line : cli::split(print({wide}, {}, 80), '\n'))
    EXPECT_LE(line.size(), 80u);
  EXPECT_THAT(print({wide}, {}, 10), HasSubstr("123456789012345 a-name-+"));
}

TEST_F(Accounting, TasksOfLargeArraysFitATerminal) {
  api::AccountingRow task = row(1234567);
  task.mutable_key()->set_task(100'000);
  task.set_name("a-name-that-is-quite-long");
  task.set_state("CANCELLED");
  task.set_cancelled_by(1001);
  *task.add_steps() = step(-1, 0);
  for (const std::string& line : cli::split(print({task, row(7)}, {}, 80), '\n'))
    EXPECT_LE(line.size(), 80u) << line;
  EXPECT_THAT(print({task}, {}, 80), HasSubstr("1234567_100000.batch "));
}

TEST_F(Accounting, OnlyTheDefaultFieldsAreFittedToATerminal) {
  api::AccountingRow wide = row(7);
  wide.set_name(std::string(100, 'x'));
  EXPECT_THAT(print({wide}, {"-o", "JobID,JobName,State"}, 80), HasSubstr(std::string(100, 'x')));
  for (const std::string& line : cli::split(print({wide}, {}, 80), '\n'))
    EXPECT_LE(line.size(), 80u) << line;
}

TEST_F(Accounting, GivenWidthCutsAndAligns) {
  EXPECT_EQ(print({row(7)}, {"-n", "-o", "State%-12,JobID%3"}), "COMPLETED      7\n");
  EXPECT_EQ(print({row(7)}, {"-n", "-o", "State%5,JobName%-6,User"}), "COMP+ wrap            \n");
  EXPECT_EQ(print({row(1234)}, {"-n", "-o", "JobID%2"}), "1234\n") << "never an id";
  EXPECT_EQ(print({row(7)}, {"-o", "AllocCPUS%4"}), "All+\n----\n   4\n");
}

TEST_F(Accounting, NonAsciiLettersCountAsOneColumn) {
  api::AccountingRow one = row(7);
  one.set_name("äöüß");
  EXPECT_EQ(print({one}, {"-n", "-o", "JobName%6,State"}), "  äöüß  COMPLETED\n");
  EXPECT_EQ(print({one}, {"-n", "-o", "JobName%3"}), "äö+\n");
}

TEST_F(Accounting, ParsableOutput) {
  EXPECT_EQ(print({row(7), row(8)}, {"-nPo", "jobid,elapsed,end,totalcpu,maxrss,Start"}),
            "7|1-01:01:01|2030-03-17T17:46:40|00:01.500|3M|2030-03-16T16:45:39\n"
            "8|1-01:01:01|2030-03-17T17:46:40|00:01.500|3M|2030-03-16T16:45:39\n");
  EXPECT_EQ(print({row(7)}, {"-p", "-b", "--delimiter=;"}),
            "JobID;State;ExitCode;\n7;COMPLETED;0:0;\n");
}

TEST_F(Accounting, ANameCannotShiftFieldsForScripts) {
  api::AccountingRow one = row(7);
  one.set_name("a|b;c\u009b");
  EXPECT_EQ(print({one}, {"-nPo", "jobid,jobname,state"}), "7|a?b;c?|COMPLETED\n");
  EXPECT_EQ(print({one}, {"-nPo", "jobid,jobname,state", "--delimiter=;"}), "7;a|b?c?;COMPLETED\n");
}

TEST_F(Accounting, JsonIsWrittenPageByPage) {
  const std::string text = print({row(7), row(8)}, {"--json"});
  EXPECT_THAT(text, StartsWith("{\n  \"rows\": [{"));
  EXPECT_THAT(text, HasSubstr("}, {"));
  EXPECT_THAT(text, HasSubstr("\"state\": \"COMPLETED\""));
  EXPECT_THAT(
      text, HasSubstr("],\n  \"now\": 1900000000000000,\n  \"cluster\": \"demo\",\n  \"meta\": {"));
  EXPECT_THAT(text, HasSubstr("[{\n  \"job_id\": 7,\n  \"key\": {"));
}

TEST_F(Accounting, UnknownAndUnsupportedFieldsAreNamed) {
  EXPECT_EQ(print({}, {"-o", "Statee"}), "unknown field \"Statee\"; did you mean \"State\"?");
  EXPECT_EQ(print({}, {"-o", "JobID,aveVMSize%20"}),
            "the field aveVMSize is not supported: nodes do not measure it");
  EXPECT_THAT(print({}, {"-o", "JobID%x"}), HasSubstr("expected NAME%WIDTH"));
  EXPECT_EQ(print({}, {"-o", ","}), "no field is named");
}

// Every field of sacct is supported or refused by name.
TEST_F(Accounting, FieldsOfSacctAreSupported) {
  const auto chosen = parse_fields("all");
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->size(), fields().size());
  for (const Field& field : fields()) {
    EXPECT_FALSE(field.help.empty()) << field.name;
    for (const RefusedField& refused : refused_fields()) EXPECT_NE(refused.name, field.name);
  }
  for (const char* name :
       {"Account",      "AllocCPUS",     "AllocNodes", "AllocTRES",  "Cluster",
        "Comment",      "Constraints",   "CPUTime",    "CPUTimeRAW", "DerivedExitCode",
        "Elapsed",      "ElapsedRaw",    "Eligible",   "End",        "Exclusive",
        "ExitCode",     "GID",           "Group",      "JobID",      "JobIDRaw",
        "JobName",      "Licenses",      "MaxRSS",     "MaxRSSNode", "NCPUS",
        "NNodes",       "NodeList",      "NTasks",     "Partition",  "Planned",
        "PlannedCPU",   "PlannedCPURAW", "Priority",   "QOS",        "Reason",
        "ReqCPUS",      "ReqMem",        "ReqNodes",   "ReqTRES",    "Restarts",
        "Start",        "State",         "StdErr",     "StdIn",      "StdOut",
        "Submit",       "SubmitLine",    "Suspended",  "SystemCPU",  "Timelimit",
        "TimelimitRaw", "TotalCPU",      "UID",        "User",       "UserCPU",
        "WorkDir"})
    EXPECT_TRUE(parse_fields(name)) << name;
}

TEST_F(Accounting, WhatTheJobAskedFor) {
  api::AccountingRow one = row(7);
  EXPECT_EQ(values(one, "Reservation,ReqReservation,SegmentSize,Extra,Container,OverSubscribe"),
            "||0|||OK");
  one.set_reservations("maint,weekly");
  one.set_segment(4);
  one.set_extra("{\"ticket\": 12}");
  one.set_container_image("docker://alpine");
  one.set_exclusive_user(true);
  EXPECT_EQ(values(one, "Reservation,ReqReservation,SegmentSize,Extra,Container,OverSubscribe"),
            "maint,weekly|maint,weekly|4|{\"ticket\": 12}|docker://alpine|USER");
  one.set_node_count(0);
  one.set_exclusive(true);
  EXPECT_EQ(values(one, "Reservation,ReqReservation,OverSubscribe"), "|maint,weekly|NO")
      << "a job that never had nodes was in no reservation";
}

TEST_F(Accounting, UsageByKindIsThatOfTheOtherFields) {
  api::AccountingRow one = row(7);
  one.set_tasks(2);
  one.set_user_cpu(61'000'000);
  one.set_disk_read(4000);
  one.set_max_disk_read(3000);
  one.set_max_disk_read_node("n2");
  one.set_max_disk_written_node("n1");
  one.set_max_rss_node("n1");
  EXPECT_EQ(values(one, "TRESUsageInTot,TRESUsageInAve,TRESUsageInMax,TRESUsageInMaxNode"),
            "cpu=00:01:01,fs/disk=4000|cpu=00:00:30,fs/disk=2000|fs/disk=3000,mem=3M|"
            "fs/disk=n2,mem=n1");
  EXPECT_EQ(values(one, "TRESUsageOutTot,TRESUsageOutAve,TRESUsageOutMax,TRESUsageOutMaxNode"),
            "fs/disk=5242880|fs/disk=2621440|fs/disk=4194304|fs/disk=n1");
  EXPECT_EQ(values(one, "MaxDiskReadNode,MaxDiskWriteNode"), "n2|n1");
  api::AccountingStep& step = *one.add_steps();
  step.set_tasks(4);
  step.set_user_cpu(8'000'000);
  step.set_max_rss(2 << 20);
  step.set_sum_rss(4 << 20);
  step.set_max_rss_node("n2");
  step.set_disk_read(800);
  const std::string of_step =
      values(one,
             "JobID,TRESUsageInTot,TRESUsageInAve,TRESUsageInMax,TRESUsageInMaxNode,"
             "TRESUsageOutMax,MaxDiskReadNode,Reservation",
             {"-j", "7.0"});
  EXPECT_EQ(of_step,
            "7.0|cpu=00:00:08,fs/disk=800,mem=4M|cpu=00:00:02,fs/disk=200,mem=1M|mem=2M|"
            "mem=n2|||");
}

TEST_F(Accounting, StatesAreColouredInTablesOnly) {
  EXPECT_THAT(print({row(7)}, {"-o", "JobID,State", "--color=always"}),
              HasSubstr("\033[36mCOMPLETED\033[0m"));
  const std::string plain = print({row(7)}, {"-o", "State%4,JobID"});
  EXPECT_EQ(print({row(7)}, {"-o", "State%4,JobID", "--color=never"}), plain);
  EXPECT_THAT(print({row(7)}, {"-o", "State%4,JobID", "--color=always"}),
              HasSubstr("\033[36mCOM\033[0m+ 7"));
  for (const char* form : {"-P", "-p", "--json", "--yaml"})
    EXPECT_THAT(print({row(7)}, {form, "--color=always"}), Not(HasSubstr("\033"))) << form;
}

TEST_F(Accounting, YamlIsTheSameDocument) {
  EXPECT_EQ(print({row(7), row(8)}, {"--yaml"}), cli::to_yaml(print({row(7), row(8)}, {"--json"})));
}

TEST_F(Accounting, MemoryIsPrintedInTheRequestedUnit) {
  const std::string f = "ReqMem,MaxRSS,AllocTRES";
  EXPECT_EQ(values(row(7), f), "8G|3M|billing=4,cpu=4,gres/gpu=2,gres/gpu:a100=2,mem=8G,node=2");
  EXPECT_EQ(values(row(7), "ReqMem,MaxRSS", {"--noconvert"}), "8192M|3072K");
  EXPECT_EQ(values(row(7), "DiskWrite,MaxDiskWrite"), "5M|4M");
  EXPECT_EQ(values(row(7), "ReqMem,MaxRSS", {"--units=G"}), "8G|0.00G");
  EXPECT_EQ(values(row(7), "ReqMem,MaxRSS", {"--units=k"}), "8388608K|3072K");
  EXPECT_EQ(values(row(7), "ReqMem", {"--units=T"}), "0.01T");
  EXPECT_THAT(print({}, {"--units=X"}), HasSubstr("expected K, M, G, T or P"));
  EXPECT_THAT(print({}, {"--units=G", "--noconvert"}), HasSubstr("--noconvert"));
}

TEST_F(Accounting, ResourcesAreCounted) {
  EXPECT_EQ(values(row(7), "ReqCPUS,ReqNodes,AllocGPUS,ReqGPUS,GPUTimeRAW,CPUTime,NNodes"),
            "4|2|2|2|180122|4-04:04:04|2");
  EXPECT_EQ(values(row(7), "CPUEff,MemEff,Planned,PlannedCPURAW"), "0.0%|0.1%|00:00:39|156");
}

TEST_F(Accounting, PendingJobShowsItsRequest) {
  api::AccountingRow waiting;
  waiting.mutable_key()->set_job(12);
  waiting.set_own_id(12);
  waiting.set_state("PENDING");
  waiting.set_reason("Priority");
  waiting.set_requested_tres("cpu=8,mem=100M,node=3");
  waiting.set_submitted(kNow - 100 * kSecond);
  waiting.set_eligible(kNow - 60 * kSecond);
  waiting.set_array_tasks("3-9%2");
  waiting.set_array_spec("0-9");
  waiting.set_time_limit(3600);
  EXPECT_EQ(values(waiting,
                   "JobID,State,Reason,AllocCPUS,NNodes,NodeList,Start,End,Elapsed,"
                   "Planned,Timelimit,TimelimitRaw,CPUEff"),
            "12_[3-9%2]|PENDING|Priority|0|3|None assigned|Unknown|Unknown|00:00:00|00:01:00|"
            "01:00:00|60|");
  EXPECT_EQ(print({waiting}, {"-nPX", "--array", "-o", "JobID,JobIDRaw"}).substr(0, 18),
            "12_3|16\n12_4|17\n12");
  waiting.clear_eligible();
  EXPECT_EQ(values(waiting, "Eligible,Planned"), "Unknown|Unknown");
}

TEST_F(Accounting, ManyArrayIndicesWidenNoLine) {
  std::string indices = "1";
  for (int i = 3; i < 600; i += 2) indices += "," + std::to_string(i);
  api::AccountingRow waiting = row(12);
  waiting.set_state("PENDING");
  waiting.set_array_tasks(indices + "%2");
  EXPECT_THAT(print({waiting, row(13)}),
              HasSubstr("12_[1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,39,41,43,...%2]"));
  for (const std::string& line : cli::split(print({waiting, row(13)}, {}, 80), '\n'))
    EXPECT_LE(line.size(), 80u) << line;
  EXPECT_THAT(print({waiting}, {"-P"}), HasSubstr("12_[" + indices + "%2]|"));
}

TEST_F(Accounting, MissingTimeLimitsHaveAText) {
  api::AccountingRow none = row(7);
  EXPECT_EQ(values(none, "Timelimit,TimelimitRaw"), "UNLIMITED|UNLIMITED");
  none.set_time_limit(0);
  EXPECT_EQ(values(none, "Timelimit,TimelimitRaw"), "Partition_Limit|Partition_Limit");
}

TEST_F(Accounting, FilesAreNamedByTheirPatterns) {
  api::AccountingRow one = row(7);
  one.set_work_dir("/home/alice");
  EXPECT_EQ(values(one, "StdIn,StdOut,StdErr"),
            "/dev/null|/home/alice/ares-%j.out|/home/alice/ares-%j.out");
  one.set_array_spec("0-3");
  one.set_std_err("/log/%x.err");
  EXPECT_EQ(values(one, "StdOut,StdErr"), "/home/alice/ares-%A_%a.out|/log/%x.err");
}

TEST_F(Accounting, ControlCharactersAreNotPrinted) {
  api::AccountingRow one = row(7);
  for (const char* text : {"a\033[2J", "a\nb"}) {
    one.set_name(text);
    one.set_comment(text);
    one.set_work_dir(text);
    one.set_std_out(text);
    one.set_user(text);
    const std::string printed = values(one, "JobName,Comment,WorkDir,StdOut,User");
    EXPECT_THAT(printed, Not(HasSubstr("\033")));
    EXPECT_THAT(printed, Not(HasSubstr("\n")));
  }
}

TEST_F(Accounting, TruncateShowsTheEndsOfTheWindow) {
  const auto truncated = [&](std::vector<std::string> window) {
    window.insert(window.end(), {"-T"});
    return values(row(7), "Start,End,ElapsedRaw", window);
  };
  EXPECT_EQ(truncated({"-S", "2030-03-17T00:00:00", "-E", "2030-03-17T10:00:00"}),
            "2030-03-17T00:00:00|2030-03-17T10:00:00|36000");
  EXPECT_EQ(truncated({"-S", "2030-03-01"}), "2030-03-16T16:45:39|2030-03-17T17:46:40|90061");
}

Query completed(const std::vector<std::string>& words, std::uint32_t uid = 1001) {
  Query query;
  EXPECT_TRUE(parse(options(query, kTime), words));
  const Status done = complete(query, kTime, uid);
  EXPECT_TRUE(done) << done.error().message;
  return query;
}

std::int64_t micros(const std::string& time) {
  return parse_timespec(time, kTime)->time_since_epoch().count();
}

TEST_F(Accounting, DefaultIsOwnJobsOfToday) {
  const Query mine = completed({});
  EXPECT_THAT(mine.filter.users(), ElementsAre("1001"));
  EXPECT_EQ(mine.filter.start(), micros("2030-03-17"));
  EXPECT_EQ(mine.filter.end(), 0);
  EXPECT_THAT(completed({}, 0).filter.users(), IsEmpty());
  EXPECT_THAT(completed({"-a"}).filter.users(), IsEmpty());
  EXPECT_THAT(completed({"-u", "bob,7"}).filter.users(), ElementsAre("bob", "7"));
  const Query named = completed({"-j", "7"});
  EXPECT_THAT(named.filter.users(), IsEmpty());
  EXPECT_EQ(named.filter.start(), 0);
}

TEST_F(Accounting, StatesWithoutAWindowAreThoseOfNow) {
  const Query now = completed({"-s", "R,PD"});
  EXPECT_EQ(now.filter.start(), kNow);
  EXPECT_EQ(now.filter.end(), kNow);
  EXPECT_EQ(now.hint, "");
  EXPECT_THAT(completed({"-s", "R,F"}).hint, HasSubstr("add -S"));
  const Query day = completed({"-s", "f,rq", "-S", "now-1day"});
  EXPECT_EQ(day.filter.start(), kNow - 86400 * kSecond);
  EXPECT_EQ(day.filter.end(), 0) << "until now";
  EXPECT_EQ(day.hint, "");
  EXPECT_THAT(day.filter.states(), ElementsAre("FAILED", "REQUEUED"));
  const Query then = completed({"-s", "R", "-E", "2030-03-01"});
  EXPECT_EQ(then.filter.start(), micros("2030-03-01"));
  EXPECT_EQ(then.filter.end(), micros("2030-03-01"));
  const Query ever = completed({"-j", "7", "-s", "F"});
  EXPECT_EQ(ever.filter.start(), 0);
  EXPECT_EQ(ever.filter.end(), 0);
}

TEST_F(Accounting, RangesAndLimits) {
  const Query q = completed({"-i", "2-8", "-I", "4", "-k", "1:00:00", "-K", "2-0"});
  EXPECT_EQ(q.filter.min_nodes(), 2u);
  EXPECT_EQ(q.filter.max_nodes(), 8u);
  EXPECT_EQ(q.filter.min_cpus(), 4u);
  EXPECT_EQ(q.filter.max_cpus(), 4u);
  EXPECT_EQ(q.filter.min_time_limit(), 3600);
  EXPECT_EQ(q.filter.max_time_limit(), 172800);
  EXPECT_EQ(completed({"-k", "60"}).filter.max_time_limit(), 3600) << "alone it is the limit";
  EXPECT_FALSE(completed({"-K", "60"}).filter.has_min_time_limit());
  for (const char* wrong : {"8-2", "x", "-", "1-", "-3", ""})
    EXPECT_THAT(print({}, {std::string("--nnodes=") + wrong}), HasSubstr("nnodes")) << wrong;
  EXPECT_THAT(print({}, {"-k", "UNLIMITED"}), HasSubstr("no limit"));
}

TEST_F(Accounting, OnlyNeededFieldsAreRequested) {
  Query query;
  const api::Accounting& filter = query.filter;
  ask_only_for(*parse_fields("JobID,Elapsed"), query);
  EXPECT_THAT(filter.fields(), ElementsAre(api::AccountingRow::kStartedFieldNumber,
                                           api::AccountingRow::kEndedFieldNumber,
                                           api::AccountingRow::kArrayTasksFieldNumber,
                                           api::AccountingRow::kSuspendedFieldNumber,
                                           api::AccountingRow::kSuspendedAtFieldNumber));
  Query other;
  const api::Accounting& none = other.filter;
  ask_only_for(*parse_fields("Cluster"), other);
  EXPECT_EQ(none.fields_size(), 1) << "nothing is not everything";
}

// A field that reads what it does not request would be wrong on a real cluster only.
TEST_F(Accounting, EveryFieldRequestsWhatItReads) {
  api::AccountingRow full = row(7);
  full.set_gid(5);
  full.set_group("g");
  full.set_user("alice");
  full.set_uid(1001);
  full.set_qos("q");
  full.set_comment("c");
  full.set_constraints("f");
  full.set_licenses("l");
  full.set_std_in("i");
  full.set_std_out("o");
  full.set_std_err("e");
  full.set_submit_line("asub x");
  full.set_submit_host("h");
  full.set_work_dir("/w");
  full.set_priority(3);
  full.set_tasks(9);
  full.set_restarts(2);
  full.set_exit_code(4);
  full.set_exit_signal(9);
  full.set_exclusive(true);
  full.set_max_rss_node("n2");
  full.set_reason("None");
  full.set_time_limit(60);
  full.set_system_cpu(kSecond * 90);
  full.set_array_spec("0-9");
  full.set_state("CANCELLED");
  full.set_cancelled_by(5);
  full.set_cause("n1: no");
  const auto* descriptor = api::AccountingRow::descriptor();
  for (const Field& field : fields()) {
    api::AccountingRow part = full;
    for (int i = 0; i < descriptor->field_count(); ++i) {
      const int number = descriptor->field(i)->number();
      const bool always = number == api::AccountingRow::kKeyFieldNumber ||
                          number == api::AccountingRow::kAttemptFieldNumber;
      if (!always && std::count(field.needs.begin(), field.needs.end(), number) == 0)
        part.GetReflection()->ClearField(&part, descriptor->field(i));
    }
    EXPECT_EQ(values(part, field.name), values(full, field.name)) << field.name;
  }
}

}  // namespace
}  // namespace ares::aacct
