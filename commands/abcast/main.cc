// abcast: copies a file to all nodes of a job. Called as ares-receive: takes it on one of them.
#include <cstdlib>
#include <optional>
#include <string_view>

#include "abcast/options.h"
#include "abcast/receive.h"
#include "arun/broadcast.h"
#include "arun/place.h"
#include "cli/options/frame.h"

namespace ares::abcast {
namespace {

Result<int> send(const Wanted& wanted, const cli::Words& operands) {
  if (operands.size() != 2)
    return fail(ErrorCode::invalid_argument, "say what to copy where: abcast SOURCE DEST");
  const std::string& path = operands[0];
  Result<arun::Source> source = arun::open_source(path);
  if (!source) return fail(source.error());
  std::string destination = operands[1];
  if (destination.ends_with('/')) destination += path.substr(path.rfind('/') + 1);
  Delivery delivery = arun::delivery_of(*source, std::move(destination), wanted.preserve);
  delivery.force = wanted.force;
  delivery.compressed = wanted.compress;
  Result<arun::Place> place = arun::find_job("abcast", wanted.common, wanted.job, false);
  if (!place) return fail(place.error());
  const arun::Sending sending{"abcast", wanted.part, arun::words_of(delivery)};
  std::optional<arun::Compressor> compressor;
  if (wanted.compress) {
    Result<arun::Compressor> made = arun::compress(source->fd.get());
    if (!made) return fail(made.error());
    compressor = std::move(*made);
  }
  const int input = compressor ? compressor->output.get() : source->fd.get();
  Result<int> code = arun::run_receivers(std::move(*place), sending, input);
  if (!code) return code;
  if (compressor && !arun::has_succeeded(*compressor) && *code == 0)
    return fail(ErrorCode::data_loss, "cannot compress " + path);
  return *code == 0 ? 0 : 1;
}

Result<int> run(const cli::Words& words) {
  Wanted wanted;
  const cli::OptionTable table = options(wanted);
  return cli::run_line(manual(), table, wanted.common, words,
                       [&](const cli::Words& operands) { return send(wanted, operands); });
}

Status receive_or_remove(const cli::Words& words) {
  if (const std::optional<std::string> path = path_to_remove(words)) return remove(*path);
  const Result<Delivery> delivery = read_delivery(words);
  if (!delivery) return fail(delivery.error());
  return receive(*delivery);
}

Result<int> run_receiver(const cli::Words& words) {
  const char* const node = std::getenv("ARESD_NODENAME");
  if (const Status done = receive_or_remove(words); !done)
    return fail(done.error().code, (node ? std::string(node) + ": " : "") + done.error().message);
  return 0;
}

}  // namespace
}  // namespace ares::abcast

int main(int argc, char** argv) {
  const std::string_view called = argc > 0 ? argv[0] : "";
  if (called.substr(called.rfind('/') + 1) == "ares-receive")
    return ares::cli::run_main("abcast", argc, argv, ares::abcast::run_receiver);
  return ares::cli::run_main("abcast", argc, argv, ares::abcast::run);
}
