// Tests: aqueue/columns, cells, column_groups, columns_identity, columns_places, aqueue/row, aqueue/why
// Tests: columns_resources, filter_options, listing_options
// How aqueue prints the replies of the controller.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aqueue/query.h"
#include "aqueue/report.h"
#include "cli/output/text.h"
#include "proto/table.h"
#include "unit/cli/answers.h"

namespace ares::aqueue {
namespace {

using answers::job;
using answers::kNow;
using answers::kSecond;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using QueueListing = answers::InUtc;

api::Jobs some_jobs() {
  api::Jobs jobs;
  jobs.set_now(kNow);
  jobs.set_lsn(77);
  jobs.set_cluster("test");
  api::Job running = job(7, "RUNNING");
  running.set_started(kNow - 3723 * kSecond);
  running.set_node_list("n[1-2]");
  running.set_node_count(2);
  running.set_time_limit(7200);
  api::Job array = job(12, "PENDING");
  array.set_reason("JobArrayTaskLimit");
  array.set_array_tasks("3-9");
  array.set_array_throttle(2);
  array.set_priority(9);
  api::Job pending = job(123456789012345678, "PENDING", "a-long-name");
  pending.set_reason("Resources");
  pending.set_priority(5);
  *jobs.add_jobs() = running;
  *jobs.add_jobs() = array;
  *jobs.add_jobs() = pending;
  return jobs;
}

api::Jobs only(const api::Job& one) {
  api::Jobs jobs;
  jobs.set_now(kNow);
  *jobs.add_jobs() = one;
  return jobs;
}

Status parse(Query& query, const std::vector<std::string>& words,
             const std::map<std::string, std::string>& environment = {}) {
  const cli::OptionTable table = options(query);
  auto given = cli::options_from_environment(table, [&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
  if (!given) return fail(given.error());
  const auto parsed = cli::parse_options(table, words);
  if (!parsed) return fail(parsed.error());
  given->insert(given->end(), parsed->given.begin(), parsed->given.end());
  return cli::apply_options(*given);
}

// The reply of the controller to the report's request: chosen fields of the rows in a table.
api::Jobs as_table(const api::Jobs& plain, const std::vector<std::uint32_t>& fields) {
  api::Jobs out = plain;
  out.clear_jobs();
  proto::TableWriter writer(api::Job::default_instance(), fields);
  for (const api::Job& row : plain.jobs()) writer.add(row);
  *out.mutable_table() = writer.take();
  return out;
}

// The explanation of a pending job, with all of its parts; job 404 is unknown.
Result<api::Explanation> explained(const api::JobRef& job) {
  if (job.job() == 404) return fail(ErrorCode::not_found, "Invalid job id specified: 404");
  api::Explanation why;
  why.set_waits(true);
  api::Explanation::Cause* cause = why.add_causes();
  cause->set_reason("Resources");
  cause->set_partition("main");
  cause->set_text("needs 4 CPUs on 1 node: 2 nodes with too few free CPUs, 1 drained");
  cause = why.add_causes();
  cause->set_reason("Priority");
  cause->set_partition("long");
  cause->set_text("enough is free now, but it would delay job 5");
  api::Explanation::Promise* promise = cause->add_promises();
  promise->mutable_job()->set_job(5);
  promise->set_start(kNow + 3600 * kSecond);
  promise->set_nodes("n4");
  why.set_jobs_ahead(2);
  why.set_expected_start(kNow + 60 * kSecond);
  why.set_expected_nodes("n3");
  why.set_queue_policy("multifactor");
  why.set_priority(750);
  const auto factor = [&](const char* name, double weight, double value) {
    api::Explanation::Factor* row = why.add_factors();
    row->set_name(name);
    row->set_weight(weight);
    row->set_value(value);
    row->set_weighted(weight * value);
  };
  factor("AGE", 1000, 0.75);
  factor("QOS", 0, 0);
  api::Explanation::Change* change = why.add_changes();
  change->set_text("--time=02:00:00");
  change->set_note("it would end before job 5 needs the nodes");
  why.add_changes()->set_text("--cpus-per-task=2");
  return why;
}

std::string queue(const api::Jobs& jobs, const std::vector<std::string>& words = {},
                  unsigned terminal = 0, const Tiers& tiers = {}) {
  Query query;
  if (Status parsed = parse(query, words); !parsed) return parsed.error().message;
  const auto report = make_report(query, terminal, tiers, explained);
  if (!report) return report.error().message;
  const api::Jobs page = as_table(jobs, (*report)->fields());
  if (Status added = add_rows(page, **report); !added) return added.error().message;
  return (*report)->finish(page, false);
}

TEST_F(QueueListing, HasTheColumnsOfSqueueAsWideAsNeeded) {
  EXPECT_EQ(queue(some_jobs()),
            "             JOBID PARTITION        NAME  USER ST    TIME NODES NODELIST(REASON)\n"
            "        12_[3-9%2]      main        wrap alice PD    0:00     1 (JobArrayTaskLimit)\n"
            "123456789012345678      main a-long-name alice PD    0:00     1 (Resources)\n"
            "                 7      main        wrap alice  R 1:02:03     2 n[1-2]\n");
  EXPECT_THAT(
      queue(some_jobs(), {"-l"}),
      StartsWith("             JOBID PARTITION        NAME  USER   STATE    TIME TIME_LIMIT "
                 "NODES NODELIST(REASON)\n"));
}

TEST_F(QueueListing, PlainRowsOfAnOlderControllerReadTheSame) {
  Query query;
  const auto report = make_report(query, 0);
  ASSERT_TRUE(report);
  ASSERT_TRUE(add_rows(some_jobs(), **report));
  EXPECT_EQ((*report)->finish(some_jobs(), false), queue(some_jobs()));
}

TEST_F(QueueListing, NarrowTerminalCutsNamesFirstAndNeverIds) {
  const std::string narrow = queue(some_jobs(), {}, 80);
  EXPECT_THAT(narrow, AllOf(HasSubstr(" a-long-+ "), HasSubstr("123456789012345678 "),
                            HasSubstr("(JobArrayTaskLimit)")));
  const std::string narrower = queue(some_jobs(), {}, 40);
  EXPECT_THAT(narrower, AllOf(HasSubstr("123456789012345678 "), HasSubstr(" a-long-+ "),
                              HasSubstr("(JobArrayTaskLi+\n")));
  EXPECT_EQ(queue(some_jobs(), {"-o", "%i %j"}, 20), queue(some_jobs(), {"-o", "%i %j"}))
      << "a format of one's own is kept to";
}

TEST_F(QueueListing, ManyArrayIndicesWidenNoLine) {
  std::string indices = "1";
  for (int i = 3; i < 600; i += 2) indices += "," + std::to_string(i);
  api::Job array = job(12, "PENDING");
  array.set_reason("JobHeldUser");
  array.set_array_tasks(indices);
  array.set_array_throttle(2);
  api::Jobs jobs = some_jobs();
  *jobs.add_jobs() = array;
  for (const std::string& line : cli::split(queue(jobs, {"-S", "i"}, 80), '\n'))
    EXPECT_LE(line.size(), 80u) << line;
  EXPECT_THAT(queue(jobs, {}, 80), HasSubstr("12_[1,3,5,7,"));
  EXPECT_THAT(queue(jobs),
              HasSubstr("12_[1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,39,41,43,...%2]"));
  EXPECT_THAT(queue(jobs, {"-h", "-o", "%K"}), HasSubstr("[1,3,5,7,9,11,13,15,17,19,21,23,25,27,"));
  setenv("ARES_BITSTR_LEN", "0", 1);
  EXPECT_THAT(queue(jobs, {"-h", "-o", "%i"}), HasSubstr("12_[" + indices + "%2]"));
  unsetenv("ARES_BITSTR_LEN");
}

TEST_F(QueueListing, TheRestOfAnArrayStandsAtTheFirstOfItsTasks) {
  api::Jobs jobs;
  jobs.set_now(kNow);
  for (const std::uint32_t task : {2u, 4u, 5u}) {
    api::Job one = job(12, "PENDING");
    one.mutable_key()->set_task(task);
    *jobs.add_jobs() = one;
  }
  api::Job rest = job(12, "PENDING");
  rest.set_array_tasks("3,6-9");
  *jobs.add_jobs() = rest;
  EXPECT_EQ(queue(jobs, {"-h", "-o", "%i"}), "12_2\n12_[3,6-9]\n12_4\n12_5\n");
}

TEST_F(QueueListing, GivenWidthsAreKept) {
  EXPECT_EQ(queue(some_jobs(), {"-h", "-o", "%.4i|%6j|%.3u|"}),
            "12_[3-9%2]|wrap  |ali|\n"
            "123456789012345678|a-long|ali|\n"
            "   7|wrap  |ali|\n");
}

TEST_F(QueueListing, ParsableFormats) {
  EXPECT_EQ(queue(some_jobs(), {"-h", "-o", "%i|%t|%r|%L", "-S", "-i"}),
            "123456789012345678|PD|Resources|UNLIMITED\n12_[3-9%2]|PD|JobArrayTaskLimit|"
            "UNLIMITED\n7|R|None|57:57\n");
}

TEST_F(QueueListing, ColumnsByName) {
  EXPECT_EQ(queue(some_jobs(), {"-O", "JobArrayID:12,name:.6,STATECOMPACT:4!"}),
            "JOBID         NAMEST  !\n"
            "12_[3-9%2]    wrapPD  !\n"
            "123456789012345678a-longPD  !\n"
            "7             wrapR   !\n");
  EXPECT_EQ(
      queue(only(job(7, "RUNNING", "twenty-characters-and-more")), {"-h", "-O", "name,jobid"}),
      "twenty-characters-and-more 7\n")
      << "without a width nothing is cut, and columns stay apart";
  EXPECT_EQ(queue({}, {"-O", "JobIdd"}), "unknown field \"JobIdd\"; did you mean \"JobID\"?");
  EXPECT_EQ(queue({}, {"-O", "burstbuffer"}),
            "format: \"BurstBuffer\" is not supported: Ares has nothing of the kind");
  EXPECT_THAT(queue({}, {"-O", "name,,jobid"}), HasSubstr("expected NAME"));
}

TEST_F(QueueListing, PropertiesOfTheSpecificationAreColumns) {
  api::Job one = job(7, "PREEMPTED");
  one.set_group("physics");
  one.set_preempted_at(kNow);
  api::JobSpec& spec = *one.mutable_spec();
  spec.set_prefer("fast&big");
  spec.set_switches(2);
  spec.set_segment(4);
  spec.set_extra("{\"ticket\": 12}");
  spec.mutable_binding()->set_gpu_bind("closest");
  spec.mutable_container()->set_image("docker://alpine");
  spec.add_reservations("maint");
  spec.add_reservations("weekly");
  const std::string names =
      "GroupName:9|,Prefer:9|,ReqSwitch:2|,SegmentSize:2|,Extra:16|,tres-bind:17|,Container:16|,"
      "Reservation:13|,PreemptTime:20|";
  EXPECT_EQ(queue(only(one), {"-h", "-t", "all", "-O", names}),
            "physics  |fast&big |2 |4 |{\"ticket\": 12}  |gres/gpu:closest |docker://alpine |"
            "maint,weekly |2030-03-17T17:46:40 |\n");
  EXPECT_EQ(queue(only(job(7, "PENDING")), {"-h", "-O", names}),
            "N/A      |N/A      |0 |0 |N/A             |N/A              |N/A             |"
            "N/A          |N/A                 |\n");
  EXPECT_EQ(queue(only(one), {"-h", "-t", "all", "-o", "%g|%v"}), "physics|maint,weekly\n");
}

// A column is either supported or refused, never both, and a refusal says why.
TEST_F(QueueListing, RefusedColumnsHaveAReason) {
  for (const cli::Unsupported& row : columns().unsupported) {
    EXPECT_FALSE(row.why.empty()) << row.name;
    for (const auto& column : columns().supported)
      EXPECT_TRUE((!row.letter || column.letter != row.letter) && column.name != row.name)
          << row.name;
  }
  EXPECT_EQ(queue({}, {"-O", "DerivedEC"}),
            "format: \"DerivedEC\" is not supported: the exit codes of steps are in accounting: "
            "aacct -o DerivedExitCode");
}

TEST_F(QueueListing, StatesAreColouredOnRequestOnly) {
  const std::vector<std::string> words = {"-h", "-o", "%i %t %T"};
  EXPECT_EQ(queue(only(job(7, "RUNNING")), words), "7 R RUNNING\n");
  std::vector<std::string> always = words;
  always.push_back("--color=always");
  EXPECT_EQ(queue(only(job(7, "RUNNING")), always), "7 \033[32mR\033[0m \033[32mRUNNING\033[0m\n");
  EXPECT_THAT(queue(only(job(7, "RUNNING")), {"--json", "--color=always"}), Not(HasSubstr("\033")));
}

TEST_F(QueueListing, EveryColumnHasATextForAnEmptyJob) {
  for (const auto& column : columns().supported) {
    std::string text;
    const api::Job none;
    const std::string cluster = "test";
    column.put({none, Time(Duration(kNow)), cluster}, text);
    EXPECT_FALSE(column.header.empty());
    EXPECT_FALSE(column.help.empty()) << column.header;
    EXPECT_TRUE(column.letter || !column.name.empty()) << column.header;
    if (column.number) column.number({none, Time(Duration(kNow)), cluster});
  }
}

// A column that does not request a field would be empty in practice.
TEST_F(QueueListing, EveryColumnRequestsAllThatItReads) {
  api::Job full = job(7, "RUNNING");
  full.mutable_key()->set_task(3);
  full.set_account("physics");
  full.set_qos("high");
  full.set_priority(12);
  full.set_time_limit(600);
  full.set_submitted(kNow - 90 * kSecond);
  full.set_eligible(kNow - 80 * kSecond);
  full.set_started(kNow - 60 * kSecond);
  full.set_restarts(2);
  full.set_node_list("n[1-2]");
  full.set_exit_code(3);
  full.set_exit_signal(9);
  full.set_tres("cpu=1,node=1");
  full.set_requested_tres("cpu=1,node=1");
  full.set_expected_nodes("n3");
  full.add_waiting_for()->mutable_target()->set_job(5);
  api::JobSpec& spec = *full.mutable_spec();
  spec.set_gid(100);
  spec.set_comment("hello");
  spec.set_nice(-5);
  spec.set_requeue(true);
  spec.set_tasks(4);
  spec.set_cpus_per_task(2);
  spec.set_tasks_per_node(2);
  spec.set_max_nodes(9);
  spec.set_memory_per_node(1 << 30);
  spec.add_gpus_per_node()->set_count(1);
  spec.add_gpus_total()->set_count(2);
  spec.set_exclusive_user(true);
  spec.set_deadline(kNow + 900 * kSecond);
  spec.set_time_min(60);
  spec.add_gpus_per_task()->set_count(3);
  spec.set_cpus_per_gpu(5);
  spec.set_memory_per_gpu(1 << 20);
  spec.add_licenses()->set_name("matlab");
  spec.add_licenses()->set_name("ansys");
  spec.set_any_license(true);
  full.add_licenses()->set_name("ansys");
  spec.add_required_nodes("n1");
  spec.add_excluded_nodes("n9");
  spec.add_features("fast");
  spec.set_command("/bin/job");
  spec.set_work_dir("/home/alice");
  spec.set_std_in("in");
  spec.set_std_out("out");
  spec.set_std_err("err");
  const std::string cluster = "test";
  const Time now{Duration(kNow)};
  for (const auto& column : columns().supported) {
    std::string direct, asked;
    column.put({full, now, cluster}, direct);
    std::vector<std::uint32_t> needs;
    cli::add_needs(column, needs);
    const api::Jobs page = as_table(only(full), needs);
    api::Job row;
    ASSERT_TRUE(proto::read_table<api::Job>(page.table(), [&](const api::Job& one) { row = one; }));
    column.put({row, now, cluster}, asked);
    EXPECT_EQ(asked, direct) << column.header << " " << column.name;
    if (!column.number) continue;
    EXPECT_EQ(column.number({row, now, cluster}), column.number({full, now, cluster}))
        << column.header;
  }
}

TEST_F(QueueListing, MoreColumns) {
  api::Job one = job(7, "PENDING");
  one.set_submitted(kNow - 90 * kSecond);
  one.set_expected_start(kNow + 60 * kSecond);
  one.set_expected_nodes("n3");
  one.add_waiting_for()->mutable_target()->set_job(5);
  one.mutable_waiting_for(0)->set_kind(api::Dependency::AFTER_OK);
  one.mutable_spec()->set_work_dir("/home/alice");
  one.mutable_spec()->set_memory_per_cpu(500 << 20);
  one.mutable_spec()->add_gpus_per_node()->set_type("a100");
  one.mutable_spec()->mutable_gpus_per_node(0)->set_count(2);
  EXPECT_EQ(queue(only(one), {"-h", "-o", "%S|%e|%E|%m|%b|%Y|%y"}),
            "2030-03-17T17:47:40|N/A|afterok:5|500M|gres/gpu:a100:2|n3|0\n");
  EXPECT_EQ(queue(only(one), {"-h", "-O", "PendingTime:1000|,StdOut:1000|"}).substr(0, 2), "90");
  EXPECT_THAT(queue(only(one), {"-h", "-O", "StdOut,StdErr"}),
              StartsWith("/home/alice/ares-%j.out "));
  EXPECT_THAT(queue(only(one), {"--start"}), HasSubstr(" 2030-03-17T17:47:40 "));
}

TEST_F(QueueListing, UnknownValuesAreRefused) {
  EXPECT_EQ(queue({}, {"-o", "%X"}),
            "format: %X (CoreSpec) is not supported: Ares has nothing of the kind");
  EXPECT_EQ(queue({}, {"-o", "%@"}), "format \"%@\": expected %[.][WIDTH]LETTER at column 1");
  EXPECT_THAT(queue({}, {"-S", "P,!"}), StartsWith("cannot sort by \"!\""));
  EXPECT_THAT(queue({}, {"-S", "prioritx"}), HasSubstr("did you mean \"Priority\"?"));
  EXPECT_THAT(queue({}, {"-t", "SLEEPING"}), HasSubstr("Invalid job state specified: SLEEPING"));
  EXPECT_THAT(queue({}, {"-j", "x"}), HasSubstr("invalid job id"));
  EXPECT_THAT(queue({}, {"-i", "0"}), HasSubstr("not a whole number from 1"));
}

TEST_F(QueueListing, ControlCharactersInNamesAreNotPrinted) {
  EXPECT_THAT(queue(only(job(1, "PENDING", "a\033[2J")), {"-o", "%j"}), Not(HasSubstr("\033")));
}

TEST_F(QueueListing, OnlyNeededFieldsAreRequested) {
  Query query;
  const auto report = make_report(query, 0);
  ASSERT_TRUE(report);
  const auto fields = (*report)->fields();
  EXPECT_THAT(fields, Contains(static_cast<std::uint32_t>(api::Job::kNameFieldNumber)));
  EXPECT_THAT(fields,
              Not(Contains(static_cast<std::uint32_t>(api::Job::kReasonDetailFieldNumber))));
  EXPECT_LE(fields.size(), 17u);
}

TEST_F(QueueListing, PagesArePrintedAtOnceIfTheOrderAllows) {
  Query query;
  ASSERT_TRUE(parse(query, {"-o", "%i %j", "-S", "i"}));
  const auto report = make_report(query, 0);
  ASSERT_TRUE(report);
  ASSERT_TRUE(add_rows(some_jobs(), **report));
  EXPECT_EQ((*report)->ready(),
            "JOBID NAME\n7 wrap\n12_[3-9%2] wrap\n123456789012345678 a-long-name\n");
  ASSERT_TRUE(add_rows(only(job(8, "PENDING")), **report));
  EXPECT_EQ((*report)->finish({}, false), "8 wrap\n");
}

TEST_F(QueueListing, JsonIsOneObjectForAllPages) {
  Query query;
  ASSERT_TRUE(parse(query, {"--json"}));
  const auto report = make_report(query, 0);
  ASSERT_TRUE(report);
  ASSERT_TRUE(
      add_rows(as_table(only(job(7, "RUNNING", "a\"b\xff")), (*report)->fields()), **report));
  std::string text = (*report)->ready();
  ASSERT_TRUE(add_rows(as_table(only(job(8, "PENDING")), (*report)->fields()), **report));
  text += (*report)->finish(some_jobs(), true);
  EXPECT_THAT(text,
              StartsWith("{\n  \"jobs\": [\n    {\n      \"job_id\": 7,\n      \"key\": {\n"));
  EXPECT_THAT(text, HasSubstr("\"name\": \"a\\\"b\xef\xbf\xbd\""));
  EXPECT_THAT(text, HasSubstr("\"own_id\": 8,"));
  EXPECT_THAT(text,
              HasSubstr("\n  ],\n  \"now\": 1900000000000000,\n  \"lsn\": 77,\n  \"cluster\": "
                        "\"test\",\n  \"moved\": true,\n  \"meta\": {\"plugin\": {"));
  EXPECT_TRUE(text.ends_with("}}\n}\n")) << text;
  EXPECT_THAT(queue({}, {"--json"}), StartsWith("{\n  \"jobs\": [],"));
}

TEST_F(QueueListing, WhyPrintsAllPartsAligned) {
  api::Job one = job(7, "PENDING", "train");
  one.set_reason("Resources");
  one.set_submitted(kNow - 90 * kSecond);
  EXPECT_EQ(queue(only(one), {"--why", "7"}),
            "Job 7 (train of alice, partition main) is first in line and waits for resources "
            "(Resources). It has waited for 1:30.\n"
            "  Waits for:     Resources in main: needs 4 CPUs on 1 node: 2 nodes with too few "
            "free CPUs, "
            "1 drained\n"
            "                 Priority in long: enough is free now, but it would delay job 5; job "
            "5 is to "
            "start at 2030-03-17T18:46:40 on n4\n"
            "  Jobs ahead:    2\n"
            "  Would start:   2030-03-17T17:47:40 on n3\n"
            "  Priority:      750 (multifactor)\n"
            "  Factor:        AGE 750 = 0.75 of weight 1000\n"
            "  Starts now if: --time=02:00:00 (it would end before job 5 needs the nodes)\n"
            "                 --cpus-per-task=2\n");
  EXPECT_THAT(queue(only(one), {"--why", "7"}, 60),
              HasSubstr("main: needs 4 CPUs on 1 node:\n                 2 nodes with"));
  EXPECT_THAT(
      queue(some_jobs(), {"--why", "7,12"}),
      AllOf(HasSubstr("does not wait: it is RUNNING on n[1-2]"), HasSubstr("\n\nJob 12_[3-9%2]")));
}

TEST_F(QueueListing, WhyWithoutAnExplanationPrintsTheReason) {
  api::Job one = job(404, "PENDING", "train");
  one.set_reason("Resources");
  one.set_reason_detail("needs 4 CPUs");
  EXPECT_THAT(queue(only(one), {"--why", "404"}),
              AllOf(HasSubstr("(Resources): needs 4 CPUs."),
                    HasSubstr("No explanation is available: Invalid job id specified: 404")));
}

TEST_F(QueueListing, WhyAsJson) {
  const std::string text = queue(some_jobs(), {"--why", "7,12", "--json"});
  EXPECT_THAT(text, AllOf(StartsWith("{\n  \"jobs\": [\n    {\n      \"job\": {"),
                          HasSubstr("\"text\": \"--cpus-per-task=2\""),
                          HasSubstr("\"weighted\": 750"), HasSubstr("\"moved\": false")));
}

TEST_F(QueueListing, OptionsBecomeTheFilter) {
  Query query;
  ASSERT_TRUE(
      parse(query, {"--me", "-t", "pd,R", "-p", "a,b", "-q", "high", "-w", "n[1-2]", "-j",
                    "12,12_3,12", "--running-over", "5", "-L", "matlab,octave", "--array-unique"}));
  EXPECT_THAT(query.filter.licenses(), testing::ElementsAre("matlab", "octave"));
  EXPECT_TRUE(query.filter.expand_arrays());
  const api::ListJobs filter = filter_of(query, 1001);
  EXPECT_THAT(filter.users(), testing::ElementsAre("1001"));
  EXPECT_THAT(filter.states(), testing::ElementsAre("PENDING", "RUNNING"));
  EXPECT_THAT(filter.qos(), testing::ElementsAre("high"));
  EXPECT_EQ(filter.nodes_size(), 2);
  EXPECT_EQ(filter.jobs_size(), 2) << "each once";
  EXPECT_EQ(filter.running_over(), 300);
  Query all;
  ASSERT_TRUE(parse(all, {"-t", "all", "--notme"}));
  EXPECT_EQ(filter_of(all, 1001).states_size(), 0);
  EXPECT_THAT(filter_of(all, 1001).not_users(), testing::ElementsAre("1001"));
  Query start;
  ASSERT_TRUE(parse(start, {"--start", "-t", "R"}));
  EXPECT_THAT(filter_of(start, 1001).states(), testing::ElementsAre("PENDING"));
}

TEST_F(QueueListing, CommandLinePrecedesEnvironment) {
  Query query;
  ASSERT_TRUE(parse(query, {"-O", "name"},
                    {{"AQUEUE_FORMAT", "%i"},
                     {"AQUEUE_SORT", "-i"},
                     {"AQUEUE_STATES", "all"},
                     {"AQUEUE_USERS", "bob"}}));
  EXPECT_EQ(query.listing.format, "");
  EXPECT_EQ(query.listing.name_format, "name");
  EXPECT_EQ(query.listing.sort, "-i");
  EXPECT_THAT(query.filter.users(), testing::ElementsAre("bob"));
  EXPECT_EQ(filter_of(query, 0).states_size(), 0);
  Query by_name;
  ASSERT_TRUE(parse(by_name, {}, {{"AQUEUE_FORMAT2", "jobid"}}));
  EXPECT_EQ(by_name.listing.name_format, "jobid");
}

TEST_F(QueueListing, PriorityOptionPrintsALineForEachPartition) {
  api::Jobs jobs;
  jobs.set_now(kNow);
  *jobs.add_jobs() = job(1, "PENDING");
  *jobs.add_jobs() = job(2, "PENDING");
  *jobs.add_jobs() = job(3, "RUNNING");
  jobs.mutable_jobs(0)->set_partition("a,b,c");
  jobs.mutable_jobs(0)->set_priority(5);
  jobs.mutable_jobs(1)->set_partition("b");
  jobs.mutable_jobs(1)->set_priority(9);
  jobs.mutable_jobs(2)->set_partition("a");
  const std::vector<std::string> plain = {"-h", "-o", "%A %P"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), plain.begin(), plain.end());
    return more;
  };
  EXPECT_EQ(queue(jobs, plain), "3 a\n1 a,b,c\n2 b\n");
  EXPECT_EQ(queue(jobs, with({"-P"})), "1 a\n3 a\n2 b\n1 b\n1 c\n");
  EXPECT_EQ(queue(jobs, with({"--priority", "-p", "b,c"})), "3 a\n2 b\n1 b\n1 c\n")
      << "which jobs there are is the controller's to say";
  EXPECT_EQ(queue(jobs, with({"-P", "-S", "-p"}), 0, {{"a", 1}, {"b", 1}, {"c", 2}}),
            "1 c\n2 b\n1 a\n1 b\n3 a\n");
}

TEST_F(QueueListing, OnlyJobStatePrintsTwoColumns) {
  EXPECT_EQ(queue(some_jobs(), {"--only-job-state"}),
            "             JOBID STATE\n"
            "        12_[3-9%2] PENDING\n"
            "123456789012345678 PENDING\n"
            "                 7 RUNNING\n");
  EXPECT_EQ(queue(some_jobs(), {"-l", "--only-job-state"}).substr(0, 25),
            "             JOBID STATE\n");
  EXPECT_EQ(queue(some_jobs(), {"--only-job-state", "-h", "-o", "%A", "-S", "i"}).substr(0, 2),
            "7\n");
}

TEST_F(QueueListing, SortsByAnyColumn) {
  EXPECT_EQ(queue(some_jobs(), {"-h", "-o", "%j", "-S", "j,i"}), "a-long-name\nwrap\nwrap\n");
  EXPECT_EQ(queue(some_jobs(), {"-h", "-o", "%A", "-S", "-PriorityLong"}),
            "12\n123456789012345678\n7\n");
  EXPECT_EQ(queue(some_jobs(), {"-h", "-o", "%A", "-S", "M,-A"}), "123456789012345678\n12\n7\n");
}

}  // namespace
}  // namespace ares::aqueue
