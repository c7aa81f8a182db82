#include "node/launch_packet.h"

#include "node/text_fields.h"

namespace ares::node {
namespace {

// First, because nothing else of a later version can be relied on.
void check_version(FieldReader& in) {
  const auto version = in.number<std::uint32_t>("version");
  if (in.status() && version > kLaunchVersion)
    in.wrong("version", "is " + std::to_string(version) + ", and this program understands up to " +
                            std::to_string(kLaunchVersion) +
                            "; install aresd and aresstepd of the same release");
}

}  // namespace

std::string encode(const LaunchRequest& request) {
  return FieldWriter()
      .put("version", kLaunchVersion)
      .put("number", request.number)
      .put("directory", request.directory)
      .take();
}

std::string encode(const LaunchAnswer& answer) {
  FieldWriter out;
  out.put("version", kLaunchVersion).put("number", answer.number).put("pid", answer.pid);
  if (!answer.error.empty()) out.put("error", answer.error);
  return out.take();
}

Result<LaunchRequest> decode_launch_request(std::string_view packet) {
  FieldReader in("launch request", packet);
  check_version(in);
  LaunchRequest request;
  if (in.status()) {
    request.number = in.number<std::uint64_t>("number");
    request.directory = in.text("directory");
    if (in.status() && !request.directory.starts_with('/'))
      in.wrong("directory", "is not an absolute path");
  }
  if (Status status = in.status(); !status) return fail(status.error());
  return request;
}

Result<LaunchAnswer> decode_launch_answer(std::string_view packet) {
  FieldReader in("answer of the fork server", packet);
  check_version(in);
  LaunchAnswer answer;
  if (in.status()) {
    answer.number = in.number<std::uint64_t>("number");
    answer.pid = in.number<std::int64_t>("pid");
    answer.error = in.text_or_empty("error");
  }
  if (Status status = in.status(); !status) return fail(status.error());
  return answer;
}

}  // namespace ares::node
