// Tests: submission/options, submission/complete, spec_checkpoint, spec_dependencies, spec_gang, spec_mail, binding_values, spec_cpus
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "asub/estimate.h"
#include "cli/options/directives.h"
#include "cli/values/gpu_values.h"
#include "cli/values/spec_values.h"
#include "submission/script.h"
#include "submission/submission.h"
#include "unit/cli/submission_of.h"

namespace ares::submission {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// As in many scripts; a new option may not make them ambiguous.
TEST(Submission, UsualShortFormsMeanOneOption) {
  const api::JobSpec job = spec({"--depend=afterok:5", "--job=x", "--part=main"});
  EXPECT_EQ(job.dependencies_size(), 1);
  EXPECT_EQ(job.name(), "x");
  EXPECT_THAT(job.partitions(), ElementsAre("main"));
  EXPECT_EQ(spec({"--dep=singleton"}).dependencies_size(), 1);
}

TEST(Submission, BindingIsKeptInLowerCase) {
  const api::Binding binding =
      spec({"--cpu-bind=Verbose,MASK_CPU:0x3", "--mem-bind=local", "--gpu-bind=closest",
            "-mcyclic:Block,NoPack", "--threads-per-core=1"})
          .binding();
  EXPECT_EQ(binding.cpu_bind(), "verbose,mask_cpu:0x3");
  EXPECT_EQ(binding.mem_bind(), "local");
  EXPECT_EQ(binding.gpu_bind(), "closest");
  EXPECT_EQ(binding.distribution(), "cyclic:block,nopack");
  EXPECT_EQ(binding.threads_per_core(), 1u);
  EXPECT_EQ(spec({}, "#!/bin/sh\n#SBATCH --hint=nomultithread\n").binding().hint(),
            "nomultithread");
  EXPECT_FALSE(spec({}).has_binding());
}

TEST(Submission, WrongBindingIsRefusedByName) {
  EXPECT_EQ(refusal({"--hint=fast"}),
            "--hint: \"fast\" is not a hint; use compute_bound, memory_bound, multithread, "
            "nomultithread");
  EXPECT_THAT(refusal({"--cpu-bind=core"}), HasSubstr("--cpu-bind: \"core\" is not a way"));
  EXPECT_THAT(refusal({"--mem-bind="}), HasSubstr("--mem-bind: needs a value"));
  EXPECT_THAT(refusal({"--threads-per-core=0"}), HasSubstr("from 1 to 64"));
  EXPECT_THAT(refusal({"--hint=nomultithread", "--threads-per-core=1"}), HasSubstr("--hint"));
}

TEST(Submission, TasksFollowFromNodes) {
  EXPECT_EQ(spec({"-N3"}).tasks(), 3u);
  EXPECT_EQ(spec({"-N", "2", "--ntasks-per-node=4"}).tasks(), 8u);
  EXPECT_EQ(spec({"-N2", "-n5"}).tasks(), 5u);
  const api::JobSpec range = spec({"-N2-4"});
  EXPECT_EQ(range.min_nodes(), 2u);
  EXPECT_EQ(range.max_nodes(), 4u);
  EXPECT_EQ(spec({"-N", "1k"}).min_nodes(), 1024u);
  EXPECT_EQ(spec({"-N", "2-1K"}).max_nodes(), 1024u);
  EXPECT_EQ(spec({}).max_nodes(), 0u) << "not asked: as many as the tasks need";
}

TEST(Submission, TasksOfAnOldNameAreThoseOfANode) {
  const api::JobSpec s = spec({"-N2", "--tasks=14", "-c2"});
  EXPECT_EQ(s.tasks_per_node(), 14u) << "getopt completes it to --tasks-per-node";
  EXPECT_EQ(s.tasks(), 28u);
}

TEST(Submission, NodesWithoutATaskAreNotAskedFor) {
  const auto made = submission({"-N4", "-n2"});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->spec.min_nodes(), 2u);
  EXPECT_EQ(made->spec.max_nodes(), 2u);
  EXPECT_THAT(made->warnings,
              ElementsAre("2 tasks cannot run on 4 nodes; the job asks for 2 instead"));
  EXPECT_THAT(submission({"-N1-4", "-n2"})->warnings, testing::IsEmpty());
}

TEST(Submission, NoneStandsForTheNullDevice) {
  const api::JobSpec s = spec({"-o", "none", "-e", "None", "-i", "none"});
  EXPECT_EQ(s.std_out(), "/dev/null");
  EXPECT_EQ(s.std_err(), "/dev/null");
  EXPECT_EQ(s.std_in(), "/dev/null");
}

TEST(Submission, FeaturesMayBeSeparatedByCommas) {
  EXPECT_THAT(spec({"-C", "projects,scratch"}).features(), ElementsAre("projects&scratch"));
}

TEST(Submission, BadMailAddressCostsTheMailOnly) {
  const auto made = submission({"--mail-user=<YourNetID>@princeton.edu", "--mail-type=END"});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->spec.mail_user(), "<YourNetID>@princeton.edu");
  EXPECT_THAT(made->warnings, ElementsAre(HasSubstr("no mail will be sent")));
}

TEST(Submission, TimesAndLimits) {
  EXPECT_EQ(spec({"-t", "90"}).time_limit(), 5400);
  EXPECT_EQ(spec({"-t", "0:01"}).time_limit(), 60) << "seconds make up a minute";
  EXPECT_EQ(spec({"-t", "1:00:01"}).time_limit(), 3660);
  EXPECT_EQ(spec({"--time-min=0:30"}).time_min(), 60);
  EXPECT_EQ(spec({"--deadline=now+1hour"}).deadline(),
            (kNow + std::chrono::hours(1)).time_since_epoch().count());
  EXPECT_EQ(spec({"-t1-0"}).time_limit(), 86400);
  EXPECT_TRUE(spec({"-t0"}).has_time_limit());
  EXPECT_EQ(spec({"-t0"}).time_limit(), 0) << "no limit";
  EXPECT_FALSE(spec({}).has_time_limit());
  EXPECT_EQ(spec({"--begin=now+1hour"}).begin(),
            (kNow + std::chrono::hours(1)).time_since_epoch().count());
}

TEST(Submission, ArraysHaveTheirThrottle) {
  const api::JobSpec s = spec({"-a", "0-9:3,20%2"});
  EXPECT_EQ(s.array(), "0-9:3,20");
  EXPECT_EQ(s.array_throttle(), 2u);
  const api::JobSpec bracketed = spec({"-a", "[0-4]%2"});
  EXPECT_EQ(bracketed.array(), "0-4");
  EXPECT_EQ(bracketed.array_throttle(), 2u);
}

TEST(Submission, MailTypesAndRecipients) {
  const api::JobSpec s = spec({"--mail-type=end,Begin", "--mail-user=a@b.org"});
  EXPECT_EQ(s.mail_types(), "BEGIN,END");
  EXPECT_EQ(s.mail_user(), "a@b.org");
  EXPECT_EQ(spec({"--mail-type=NONE"}).mail_types(), "");
}

TEST(Submission, DependenciesOfAllKinds) {
  const api::JobSpec s = spec({"-d", "afterok:12:13_4,afterany:14,15,after:16,afternotok:17"});
  ASSERT_EQ(s.dependencies_size(), 6);
  EXPECT_EQ(s.dependencies(0).kind(), api::Dependency::AFTER_OK);
  EXPECT_EQ(s.dependencies(1).target().task(), 4u);
  EXPECT_EQ(s.dependencies(3).kind(), api::Dependency::AFTER_ANY);
  EXPECT_EQ(s.dependencies(3).target().job(), 15u);
  EXPECT_EQ(s.dependencies(5).kind(), api::Dependency::AFTER_NOT_OK);
}

TEST(Submission, DependenciesWithDelayPartnersAndAlternatives) {
  const api::JobSpec s = spec({"-d", "after:16+5:17,aftercorr:18,singleton"});
  ASSERT_EQ(s.dependencies_size(), 4);
  EXPECT_EQ(s.dependencies(0).delay(), 300);
  EXPECT_EQ(s.dependencies(1).delay(), 0);
  EXPECT_EQ(s.dependencies(2).kind(), api::Dependency::AFTER_CORR);
  EXPECT_EQ(s.dependencies(3).kind(), api::Dependency::SINGLETON);
  EXPECT_FALSE(s.any_dependency());
  EXPECT_EQ(cli::format_dependencies(s.dependencies()),
            "after:16+5,after:17,aftercorr:18,singleton");
  const api::JobSpec any = spec({"-d", "afterok:12?afterany:13"});
  EXPECT_EQ(any.dependencies_size(), 2);
  EXPECT_TRUE(any.any_dependency());
}

TEST(Submission, Licenses) {
  const api::JobSpec both = spec({"-L", "matlab:2,ansys"});
  ASSERT_EQ(both.licenses_size(), 2);
  EXPECT_EQ(both.licenses(0).name(), "matlab");
  EXPECT_EQ(both.licenses(0).count(), 2u);
  EXPECT_EQ(both.licenses(1).count(), 1u);
  EXPECT_FALSE(both.any_license());
  EXPECT_TRUE(spec({"--licenses=matlab|ansys:3"}).any_license());
}

TEST(Submission, ListsOfNodeCounts) {
  const api::JobSpec s = spec({"-N1-15:4"});
  EXPECT_EQ(s.node_counts(), "1-13:4");
  EXPECT_EQ(s.min_nodes(), 1u);
  EXPECT_EQ(s.max_nodes(), 13u);
  EXPECT_EQ(spec({"-N", "8,2,4"}).min_nodes(), 2u);
  EXPECT_EQ(spec({"-N2"}, "#ARES -N 2,4\n").node_counts(), "");
}

TEST(Submission, NodesMayBeListedInAFile) {
  const auto file =
      std::filesystem::temp_directory_path() / ("ares-nodes-" + std::to_string(getpid()));
  std::ofstream(file) << "n[1-2],n7\nn9  n1\n\n";
  EXPECT_THAT(spec({"-w", file.string()}).required_nodes(), ElementsAre("n1", "n2", "n7", "n9"));
  EXPECT_THAT(spec({"-x", file.string()}).excluded_nodes(), ElementsAre("n1", "n2", "n7", "n9"));
  std::ofstream(file) << "\n";
  const auto empty = submission({"-w", file.string()});
  EXPECT_THAT(empty ? "accepted" : empty.error().message, HasSubstr("names no nodes"));
  std::filesystem::remove(file);
}

TEST(Submission, NodeListsAndFeatures) {
  const api::JobSpec s = spec({"-w", "n[1-2]", "-x", "n9", "-C", "fast&big", "--exclusive"});
  EXPECT_THAT(s.required_nodes(), ElementsAre("n1", "n2"));
  EXPECT_THAT(s.excluded_nodes(), ElementsAre("n9"));
  EXPECT_THAT(s.features(), ElementsAre("fast&big"));
  EXPECT_TRUE(s.exclusive());
  EXPECT_TRUE(spec({"--exclusive=user"}).exclusive_user());
  EXPECT_FALSE(spec({"--exclusive=user"}, "#ARES --exclusive\n").exclusive());
}

TEST(Submission, NetworkAndPreferences) {
  const api::JobSpec s =
      spec({"--switches=2@10", "--prefer= fast|big "}, "#SBATCH --segment=4\n#ARES -N8\n");
  EXPECT_EQ(s.switches(), 2u);
  EXPECT_EQ(s.switches_wait(), 600);
  EXPECT_EQ(s.segment(), 4u);
  EXPECT_EQ(s.prefer(), "fast|big");
  EXPECT_FALSE(spec({"--switches=1"}, "#ARES --switches=2@1:00\n").has_switches_wait());
  EXPECT_THAT(refusal({"--switches=one"}), HasSubstr("\"one\" is not COUNT or COUNT@TIME"));
  EXPECT_THAT(refusal({"--switches=1@0"}), HasSubstr("after @ stands a minute or more"));
  EXPECT_THAT(refusal({"--switches=1@soon"}), HasSubstr("soon"));
  EXPECT_THAT(refusal({"--segment=-1"}), HasSubstr("\"-1\" is not a number of nodes"));
  EXPECT_THAT(refusal({"--prefer=a&"}), HasSubstr("Invalid feature specification"));
}

TEST(Submission, Gangs) {
  const api::JobSpec s =
      spec({"--gang=train", "--gang-timeout=5"}, "#ARES --gang-size=4\n#SBATCH --gang-min=2\n");
  EXPECT_EQ(s.gang().name(), "train");
  EXPECT_EQ(s.gang().size(), 4u);
  EXPECT_EQ(s.gang().min(), 2u);
  EXPECT_EQ(s.gang().timeout(), 300);
  EXPECT_FALSE(spec({"--gang-timeout=0"}, "#ARES --gang-timeout=5\n").gang().has_timeout());
  EXPECT_FALSE(spec({}).has_gang());
  EXPECT_THAT(refusal({"--gang="}), HasSubstr("a gang needs a name"));
  EXPECT_THAT(refusal({"--gang-size=0"}), HasSubstr("1 to 1000"));
  EXPECT_THAT(refusal({"--gang-min=few"}), HasSubstr("few"));
}

TEST(Submission, NamesAndDirectories) {
  EXPECT_EQ(spec({}).name(), "job.sh");
  EXPECT_EQ(spec({"--wrap=true"}).name(), "wrap");
  EXPECT_EQ(spec({"-J", "x"}, "#ARES -J y\n").name(), "x");
  EXPECT_EQ(spec({}).work_dir(), "/home/alice");
  EXPECT_EQ(spec({"-D", "../bob"}).work_dir(), "/home/bob");
  EXPECT_EQ(spec({"-D", "/scratch"}).work_dir(), "/scratch");
  EXPECT_EQ(spec({"-D", "/scratch"}).submit_dir(), "/home/alice");
}

TEST(Submission, RequeueIsTheDefaultOfTheSiteUnlessGiven) {
  EXPECT_FALSE(spec({}).has_requeue());
  EXPECT_TRUE(spec({"--requeue"}).requeue());
  EXPECT_TRUE(spec({"--no-requeue"}).has_requeue());
  EXPECT_TRUE(spec({"--requeue=expedite"}).requeue());
  EXPECT_TRUE(spec({"--requeue=expedite"}).expedite());
  EXPECT_TRUE(spec({}, "#SBATCH --requeue=EXPEDITE\n").expedite());
  EXPECT_FALSE(spec({"--requeue"}, "#ARES --requeue=expedite\n").expedite());
  EXPECT_FALSE(spec({"--no-requeue"}, "#ARES --requeue=expedite\n").expedite());
  EXPECT_EQ(spec({"-N2", "--spare-nodes=1"}).spare_nodes(), 1u);
  EXPECT_FALSE(spec({"--no-requeue"}, "#ARES --requeue\n").requeue());
}

TEST(Submission, CheckpointsAreInADirectoryAndHaveASignal) {
  const api::JobSpec usual = spec({"--checkpoint=saved/"});
  EXPECT_EQ(usual.checkpoint().place(), "/home/alice/saved");
  EXPECT_EQ(usual.checkpoint().keep(), 2u);
  EXPECT_EQ(usual.warning_signal(), "USR1@60");
  EXPECT_EQ(spec({"--checkpoint=/s", "--signal=TERM@10"}).warning_signal(), "TERM@10");
  EXPECT_EQ(spec({"--checkpoint-signal=B:USR2@9", "--chdir=/w", "--checkpoint=s"}).warning_signal(),
            "B:USR2@9");
  EXPECT_EQ(spec({"--checkpoint=s", "--chdir=/w"}).checkpoint().place(), "/w/s");
  EXPECT_EQ(spec({"--checkpoint=s", "--checkpoint-keep=16"}).checkpoint().keep(), 16u);
  EXPECT_FALSE(spec({}).has_checkpoint());
}

TEST(Submission, OptionsOfCheckpointsThatMakeNoSenseAreRefused) {
  EXPECT_THAT(refusal({"--checkpoint-keep=2"}), HasSubstr("need --checkpoint=DIR"));
  EXPECT_THAT(refusal({"--checkpoint-signal=USR1"}), HasSubstr("need --checkpoint=DIR"));
  EXPECT_THAT(refusal({"--checkpoint=s", "--checkpoint-keep=0"}), HasSubstr("from 1 to 16"));
  EXPECT_EQ(refusal({"--checkpoint=s3://bucket/x"}), "accepted");
  EXPECT_THAT(refusal({"--checkpoint=s3://Bucket/x"}), HasSubstr("a bucket that cannot be"));
  EXPECT_THAT(refusal({"--checkpoint=gs://bucket/x"}), HasSubstr("s3://BUCKET/PREFIX"));
  EXPECT_NE(refusal({"--checkpoint=s", "--signal=USR1", "--checkpoint-signal=USR2"}), "accepted");
}

TEST(Submission, NiceWithoutValueIsAHundred) {
  EXPECT_EQ(spec({"--nice"}).nice(), 100);
  EXPECT_EQ(spec({"--nice=-5"}).nice(), -5);
}

struct Case {
  std::vector<std::string> words;
  std::string message;  // beginning of the message
};

class Refused : public testing::TestWithParam<Case> {};

TEST_P(Refused, ErrorNamesTheOption) {
  EXPECT_THAT(refusal(GetParam().words), StartsWith(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Submission, Refused,
    testing::Values(
        Case{{"--mem=1", "--mem-per-cpu=1"}, "--mem and --mem-per-cpu are mutually exclusive"},
        Case{{"--gres=gpu:2", "--gpus-per-node=2"},
             "--gres and --gpus-per-node are mutually exclusive"},
        Case{{"-N0"}, "--nodes: Node count specification invalid"},
        Case{{"-N4-2"}, "--nodes: Node count specification invalid"},
        Case{{"-N0-15:4"}, "--nodes: Node count specification invalid"},
        Case{{"-N4,x"}, "--nodes: Node count specification invalid"},
        Case{{"-n0"}, "--ntasks: \"0\" is not a whole number from 1"},
        Case{{"-n", "-3"}, "--ntasks: \"-3\" is not a whole number from 1"},
        Case{{"--mem=lots"}, "--mem: memory size \"lots\""},
        Case{{"-t", "1:2:3:4"}, "--time: time limit \"1:2:3:4\""},
        Case{{"-a", "5-1"}, "--array: Invalid job array specification"},
        Case{{"-a", "1%x"}, "--array: \"%x\" is no bound"},
        Case{{"-d", "afterwards:3"},
             "--dependency: Job dependency problem: unknown kind \"afterwards\""},
        Case{{"-d", "afterok"}, "--dependency: Job dependency problem: \"afterok\" names no job"},
        Case{{"-d", "afterok:1?afterok:2,afterany:3"},
             "--dependency: Job dependency problem: \",\" (all of them) and \"?\""},
        Case{{"-d", "singleton:3"}, "--dependency: Job dependency problem: singleton names no job"},
        Case{{"-d", "afterok:3+5"},
             "--dependency: Job dependency problem: a delay (+MINUTES) goes"},
        Case{{"-d", "after:3+x"}, "--dependency: Job dependency problem: \"+x\" is no delay"},
        Case{{"-d", "afterok:1,"}, "--dependency: Job dependency problem: an empty item"},
        Case{{"-d", "expand:1"}, "--dependency: the dependency expand is not supported yet"},
        Case{{"-C", "a|b&c"}, "--constraint: Invalid feature specification: \"a|b&c\""},
        Case{{"-L", "a,b|c"}, "--licenses: Invalid license specification"},
        Case{{"-L", "a:0"}, "--licenses: Invalid license specification: \"a:0\""},
        Case{{"-L", "a@db"}, "--licenses: a licence of another server (@) is not supported yet"},
        Case{{"--time-min=0"}, "--time-min: \"0\": the least time must be a minute or more"},
        Case{{"--deadline=someday"}, "--deadline: "},
        Case{{"--gres=shard:2"}, "--gres: how many shards a GPU has is not known here; say a part"},
        Case{{"--gres=mps:101"},
             "--gres: mps:101 is not mps:[TYPE:]COUNT, with a count of 1 to 100"},
        Case{{"--gres=mps:0"}, "--gres: mps:0 is not"},
        Case{{"--gres=mps"}, "--gres: the generic resource \"mps\" is not supported yet"},
        Case{{"--gpus=a100:x"}, "--gpus: \"a100:x\" is not [TYPE:]COUNT"},
        Case{{"-w", "n[1-"}, "--nodelist: "},
        Case{{"-w", "/nowhere/nodes"}, "--nodelist: cannot read the list of nodes in the file"},
        Case{{"--exclusive=topo"}, "--exclusive: --exclusive=topo is not supported yet"},
        Case{{"--exclusive=me"}, "--exclusive: \"me\": write user, or nothing"},
        Case{{"-p", "a,,b"}, "--partition: Invalid partition name specified"},
        Case{{"--open-mode=both"}, "--open-mode: \"both\" is neither append nor truncate"},
        Case{{"-b", "someday"}, "--begin: "},
        Case{{"-J", "a\033[31m"}, "--job-name: the value holds a control"},
        Case{{"--mem-per-gpu=0"}, "--mem-per-gpu: \"0\""},
        Case{{"--mem-per-gpu=1", "--mem=1"}, "--mem-per-gpu and --mem are mutually exclusive"},
        Case{{"--gpus-per-task=1", "--cpus-per-gpu=1", "--cpus-per-task=2"},
             "--cpus-per-gpu and --cpus-per-task are mutually exclusive"},
        Case{{"--mem-update=1"},
             "--mem-update is not supported: a job that runs keeps its memory; ask for the most"},
        Case{{"--spread-segments"}, "--spread-segments is not supported: two segments may share"},
        Case{{"--x11"},
             "--x11 is not supported: a batch job has no display to forward; while it runs, log in "
             "to its node with ssh -X, see ares-adopt(8)"},
        Case{{"--x11=first"}, "--x11 is not supported: a batch job has no display"},
        Case{{"--container=image"},
             "--container is not supported: name an image with --container-image, or run a "
             "container in the script, with apptainer, enroot or podman"},
        Case{{"--mail-type=BEGIN,often"}, "--mail-type: unknown mail type \"often\""},
        Case{{"--mail-type=stage_out"},
             "--mail-type: the mail type STAGE_OUT is not supported yet: there are no burst"},
        Case{{"--mail-type=BEGIN,"}, "--mail-type: an empty item"},
        Case{{"--signal=R:USR1@60"}, "--signal: R: in \"R:USR1@60\" is for jobs that overlap"},
        Case{{"--signal=X:USR1"}, "--signal: \"X:USR1\" is not a signal"},
        Case{{"--signal=USR1@1h"}, "--signal: \"1h\" is not a number of seconds"}));

TEST(Estimate, SaysWhenWhereAndHowCertain) {
  api::Estimate e;
  e.set_reason("Dependency");
  e.set_reason_detail("waits for 1 other job");
  EXPECT_EQ(asub::describe_estimate(e),
            "Job would wait; no start time can be estimated: Dependency (waits for 1 other job)");
  e.set_start(kNow.time_since_epoch().count());
  e.set_partition("main");
  e.set_cpus(8);
  e.set_node_list("n[1-2]");
  EXPECT_THAT(asub::describe_estimate(e), StartsWith("Job would start at 2030-05-17T"));
  EXPECT_THAT(asub::describe_estimate(e),
              HasSubstr(" on nodes n[1-2] in partition main with 8 CPUs"));
  e.set_at_the_earliest(true);
  EXPECT_THAT(asub::describe_estimate(e), HasSubstr("not before 2030-05-17T"));
  e.mutable_why()->set_waits(true);
  e.mutable_why()->set_cut(true);
  EXPECT_THAT(
      asub::describe_estimate(e),
      HasSubstr(" with 8 CPUs\n  Jobs ahead:    0\n  Would start:   cannot be estimated\n"));
  EXPECT_THAT(asub::describe_estimate(e), testing::EndsWith("the search was cut short"));
}

TEST(Submission, DirectiveIsNamedByItsLine) {
  const auto made = submission({}, "#!/bin/sh\n#ARES -N 2\n#ARES -t soon\n");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, StartsWith("job.sh:3: --time: "));
  EXPECT_FALSE(submission({}, "#ARES --wrap=true\n")) << "a script cannot replace itself";
}

}  // namespace
}  // namespace ares::submission
