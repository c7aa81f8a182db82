// Tests: container_options, spec_container, convert_container
#include "submission/container_options.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "model/job/job.h"
#include "proto/convert.h"
#include "submission/allocation_request.h"
#include "unit/cli/submission_of.h"

namespace ares::submission {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ContainerOptions, TheirValuesReachTheSpecification) {
  const auto made =
      submission({"--container-mounts=/home/a:/data:ro,/scratch", "--container-env=PATH,A_1",
                  "--container-per-rank", "--namespace=team", "--service-account=reader"},
                 "#!/bin/sh\n#ARES --container-image=\"docker://reg.io:5000#ml/train:2\"\n"
                 "#SBATCH --container-workdir=/data\n");
  ASSERT_TRUE(made) << made.error().message;
  const auto spec = proto::from_api(made->spec);
  ASSERT_TRUE(spec) << spec.error().message;
  ASSERT_TRUE(spec->container);
  EXPECT_EQ(spec->container->image, "reg.io:5000/ml/train:2");
  EXPECT_THAT(spec->container->mounts, ElementsAre(ContainerMount{"/home/a", "/data", true},
                                                   ContainerMount{"/scratch", "/scratch", false}));
  EXPECT_THAT(spec->container->variables, ElementsAre("PATH", "A_1"));
  EXPECT_TRUE(spec->container->is_per_rank);
  EXPECT_EQ(spec->container->work_dir, "/data");
  EXPECT_EQ(spec->container->space, "team");
  EXPECT_EQ(spec->container->service_account, "reader");
}

TEST(ContainerOptions, AJobWithoutThemAsksForNoContainer) {
  EXPECT_FALSE(submission({"-n1"})->spec.has_container());
}

TEST(ContainerOptions, WrongValuesAreRefused) {
  EXPECT_THAT(refusal({"--container-image=/x.sqsh"}), HasSubstr("is a file"));
  EXPECT_THAT(refusal({"--container-image=a b"}), HasSubstr("not the name of an image"));
  EXPECT_THAT(refusal({"--container-mounts=x:/y"}), HasSubstr("not an absolute path"));
  EXPECT_THAT(refusal({"--container-mounts=/x:y"}), HasSubstr("not an absolute path"));
  EXPECT_THAT(refusal({"--container-mounts=/x:/y:rx"}), HasSubstr("neither ro nor rw"));
  EXPECT_THAT(refusal({"--container-mounts=/x:/y:ro:1"}), HasSubstr("is not SRC"));
  EXPECT_THAT(refusal({"--container-workdir=x"}), HasSubstr("not an absolute path"));
  EXPECT_THAT(refusal({"--container-env=A=1"}), HasSubstr("not the name of a variable"));
  EXPECT_THAT(refusal({"--namespace=Team"}), HasSubstr("namespace"));
  EXPECT_THAT(refusal({"--service-account=-x"}), HasSubstr("service account"));
  EXPECT_THAT(refusal({"--pod-template=/nonexistent/t.json"}), HasSubstr("cannot read"));
  EXPECT_THAT(refusal({"--container-name=x"}), HasSubstr("--container-image"));
}

TEST(ContainerOptions, ATemplateIsReadAtSubmission) {
  const std::string file = testing::TempDir() + "template.json";
  const auto write = [&](const std::string& text) { std::ofstream(file) << text; };
  write(R"({"kind": "Pod"})");
  EXPECT_EQ(submission({"--pod-template=" + file})->spec.container().pod_template(),
            R"({"kind": "Pod"})");
  write("kind: Pod");
  EXPECT_THAT(refusal({"--pod-template=" + file}), HasSubstr("is not a JSON object"));
  write(std::string(kLongestPodTemplate + 1, ' '));
  EXPECT_THAT(refusal({"--pod-template=" + file}), HasSubstr("longer than"));
  std::filesystem::remove(file);
}

TEST(ContainerOptions, AllocationsRefuseThemByName) {
  Submission target;
  const std::vector<std::string> words{"--container-image=x", "true"};
  const auto refused = cli::parse_options(allocation_options(target, Time{}), words);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("only batch jobs run in containers"));
}

TEST(ContainerOptions, TheControllerChecksThemAgain) {
  const auto refused = [](auto change) {
    api::JobSpec spec = submission({"--container-image=x"})->spec;
    change(*spec.mutable_container());
    const auto read = proto::from_api(spec);
    return read ? "accepted" : read.error().message;
  };
  using C = api::ContainerRequest;
  EXPECT_EQ(refused([](C&) {}), "accepted");
  EXPECT_THAT(refused([](C& c) { c.set_image("a\nb"); }), HasSubstr("container image"));
  EXPECT_THAT(refused([](C& c) { c.add_mounts()->set_source("x"); }), HasSubstr("absolute"));
  EXPECT_THAT(refused([](C& c) { c.set_work_dir("x"); }), HasSubstr("absolute"));
  EXPECT_THAT(refused([](C& c) { c.add_variables("A=1"); }), HasSubstr("names of variables"));
  EXPECT_THAT(refused([](C& c) { c.set_namespace_name("a\x1b"); }), HasSubstr("namespace"));
  EXPECT_THAT(refused([](C& c) { c.set_pod_template(std::string(kLongestPodTemplate + 1, 'x')); }),
              HasSubstr("longer than"));
  EXPECT_THAT(refused([](C& c) {
                for (std::size_t i = 0; i <= kMostContainerMounts; ++i) {
                  c.add_mounts()->set_source("/a");
                  c.mutable_mounts(static_cast<int>(i))->set_target("/b");
                }
              }),
              HasSubstr("more than"));
}

}  // namespace
}  // namespace ares::submission
