// Tests: translated_options, submission/refused_options, process_context
#include "submission/translated_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "submission/process_context.h"
#include "submission/refused_options.h"
#include "unit/cli/submission_of.h"

namespace ares::submission {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The specification that both lines of options make.
void expect_same(const std::vector<std::string>& words, const std::vector<std::string>& others) {
  const auto one = submission(words), other = submission(others);
  ASSERT_TRUE(one) << words.front() << ": " << one.error().message;
  ASSERT_TRUE(other) << others.front() << ": " << other.error().message;
  EXPECT_EQ(one->spec.SerializeAsString(), other->spec.SerializeAsString())
      << one->spec.ShortDebugString() << "\n"
      << other->spec.ShortDebugString();
}

TEST(TranslatedOptions, TresPerTaskIsCpusAndGpusOfATask) {
  expect_same({"-n2", "--tres-per-task=cpu=4,gres/gpu:a100=2"},
              {"-n2", "-c4", "--gpus-per-task=a100:2"});
  expect_same({"-n2", "--tres-per-task=gres/gpu:1"}, {"-n2", "--gpus-per-task=1"});
  expect_same({"-n2", "--tres-per-task=cpu:3"}, {"-n2", "-c3"});
  EXPECT_THAT(refusal({"--tres-per-task=license/matlab:1"}),
              HasSubstr("\"license/matlab:1\" is neither cpu=COUNT nor"));
  EXPECT_THAT(refusal({"--tres-per-task=gres/gpus=1"}), HasSubstr("is neither"));
  EXPECT_NE(refusal({"--tres-per-task=cpu=0"}), "accepted");
  EXPECT_NE(refusal({"--tres-per-task=cpu=2", "-c2"}), "accepted");
}

TEST(TranslatedOptions, TresBindIsGpuBind) {
  expect_same({"--tres-bind=gres/gpu:closest"}, {"--gpu-bind=closest"});
  expect_same({"--tres-bind=gres/gpu:single:2"}, {"--gpu-bind=single:2"});
  EXPECT_THAT(refusal({"--tres-bind=closest"}), HasSubstr("is not gres/gpu:KIND"));
  EXPECT_NE(refusal({"--tres-bind=gres/gpu:nearly"}), "accepted");
}

TEST(TranslatedOptions, TasksPerGpuFollowFromEither) {
  expect_same({"--ntasks-per-gpu=2", "-G4"}, {"-n8", "-G4", "--gpu-bind=single:2"});
  expect_same({"--ntasks-per-gpu=2", "-n8"}, {"-n8", "-G4", "--gpu-bind=single:2"});
  expect_same(
      {"--ntasks-per-gpu=2", "-N3", "--gpus-per-node=a100:2"},
      {"-N3", "-n12", "--ntasks-per-node=4", "--gpus-per-node=a100:2", "--gpu-bind=single:2"});
  expect_same({"--ntasks-per-gpu=1", "-G2", "--gpu-bind=none"}, {"-n2", "-G2", "--gpu-bind=none"});
  expect_same({"--ntasks-per-gpu=2", "-G2", "-n4"}, {"-n4", "-G2", "--gpu-bind=single:2"});
  EXPECT_THAT(refusal({"--ntasks-per-gpu=2"}),
              HasSubstr("needs a number of tasks (-n) or of GPUs"));
  EXPECT_THAT(refusal({"--ntasks-per-gpu=2", "-n3"}), HasSubstr("give a multiple"));
  EXPECT_THAT(refusal({"--ntasks-per-gpu=2", "-G2", "-n3"}),
              HasSubstr("make 4 tasks, and -n says 3"));
  EXPECT_THAT(refusal({"--ntasks-per-gpu=2", "--gres=gpu:0.5"}), HasSubstr("parts of GPUs"));
  EXPECT_NE(refusal({"--ntasks-per-gpu=0", "-G1"}), "accepted");
  EXPECT_NE(refusal({"--ntasks-per-gpu=4294967295", "-G4"}), "accepted");
}

class Files : public testing::Test {
 protected:
  Files()
      : folder_(std::filesystem::temp_directory_path() /
                ("translated." + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~Files() override { std::filesystem::remove_all(folder_); }
  std::string written(const std::string& name, const std::string& text) {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::filesystem::path folder_;
};

TEST_F(Files, NodefileIsAListOfNodesInAFile) {
  const auto made = submission({"-F", written("nodes", "n1\nn[3-4]\n")});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made->spec.required_nodes(), ElementsAre("n1", "n3", "n4"));
  EXPECT_THAT(refusal({"-F", "no-such-file"}), HasSubstr("cannot read the list of nodes"));
  EXPECT_NE(refusal({"-F", written("nodes", "n1"), "-w", "n2"}), "accepted");
}

TEST_F(Files, ExportFileStandsForTheVariablesOfTheProcess) {
  using namespace std::string_literals;
  const std::string path = written("env", "A=1\0B=two\nlines\0HOME=/h\0"s);
  EXPECT_EQ(environment_from_file(path, "ALL").value(), "A=1\0B=two\nlines\0HOME=/h\0"s);
  EXPECT_EQ(environment_from_file(path, "NIL,A,C=3").value(), "A=1\0C=3\0"s);
  EXPECT_EQ(environment_from_file(written("env", ""), "NIL").value(), "");
  for (const std::string& text : {"A=1\nB=2 of env without -0"s, "PATH"s, "=x"s, "two\nlines=1"s}) {
    const auto read = environment_from_file(written("bad", text), "ALL");
    if (text.starts_with("A=1")) {
      EXPECT_TRUE(read) << "a value may have several lines";
    } else {
      ASSERT_FALSE(read) << text;
      EXPECT_THAT(read.error().message, HasSubstr("not NAME=VALUE; write it with env -0"));
    }
  }
  EXPECT_THAT(environment_from_file(folder_, "ALL").error().message, HasSubstr("cannot read"));
  EXPECT_THAT(environment_from_file(folder_ / "none", "ALL").error().message,
              HasSubstr("--export-file: cannot read"));
}

TEST(RefusedOptions, NoneIsAlsoAnOption) {
  Submission target;
  const cli::OptionTable table = options(target, Time{});
  for (const cli::Unsupported& refused : refused_options())
    for (const cli::Option& option : table.options) {
      EXPECT_NE(option.name, refused.name);
      EXPECT_TRUE(refused.letter == 0 || option.letter != refused.letter) << refused.name;
    }
}

TEST(RefusedOptions, SayWhatToDoInTheirPlace) {
  EXPECT_THAT(refusal({"--bbf=x"}), HasSubstr("there are no burst buffers"));
  EXPECT_THAT(refusal({"-B", "2:8"}), HasSubstr("--constraint"));
  EXPECT_THAT(refusal({"--uid=0"}), HasSubstr("start the command as that user"));
}

}  // namespace
}  // namespace ares::submission
