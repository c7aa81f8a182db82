// The options of jobs that commit checkpoints.
#include <charconv>
#include <filesystem>

#include "base/printable.h"
#include "cli/values/spec_values.h"
#include "model/job/checkpoint.h"
#include "model/job/checkpoint_place.h"

namespace ares::cli {
namespace {

constexpr const char* kUsualSignal = "USR1";

std::string without_slashes(std::string place) {
  while (place.size() > 1 && place.back() == '/') place.pop_back();
  return place;
}

}  // namespace

Status set_checkpoint(api::JobSpec& spec, const std::string& text) {
  if (text.empty()) return fail(ErrorCode::invalid_argument, "the directory has no name");
  if (is_checkpoint_uri(text))
    if (const std::string wrong = wrong_checkpoint_place(without_slashes(text)); !wrong.empty())
      return fail(ErrorCode::invalid_argument, quote(text) + " " + wrong);
  spec.mutable_checkpoint()->set_place(text);
  return {};
}

Status set_checkpoint_keep(api::JobSpec& spec, const std::string& text) {
  std::uint32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 1 ||
      count > kMostCheckpointsKept)
    return fail(ErrorCode::invalid_argument,
                quote(text) + " is not a number from 1 to " + std::to_string(kMostCheckpointsKept));
  spec.mutable_checkpoint()->set_keep(count);
  return {};
}

Status set_checkpoint_signal(api::JobSpec& spec, const std::string& text) {
  if (Status set = set_warning_signal(spec, text); !set) return set;
  spec.mutable_checkpoint();  // complete_checkpoint() wants its directory
  return {};
}

Status complete_checkpoint(api::JobSpec& spec) {
  if (!spec.has_checkpoint()) return {};
  api::CheckpointRequest& request = *spec.mutable_checkpoint();
  if (request.place().empty())
    return fail(ErrorCode::invalid_argument,
                "--checkpoint-signal and --checkpoint-keep need --checkpoint=DIR");
  std::string place = request.place();
  if (!is_checkpoint_uri(place))
    place = (std::filesystem::path(spec.work_dir()) / place).lexically_normal().string();
  request.set_place(without_slashes(std::move(place)));
  if (request.keep() == 0) request.set_keep(CheckpointRequest{}.keep);
  return spec.warning_signal().empty() ? set_warning_signal(spec, kUsualSignal) : Status();
}

}  // namespace ares::cli
