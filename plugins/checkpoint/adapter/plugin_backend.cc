#include "checkpoint/adapter/plugin_backend.h"

#include <array>

#include "checkpoint/adapter/convert.h"
#include "checkpoint/manifest.h"
#include "checkpoint/uri.h"

namespace ares::checkpoint {
namespace {

constexpr std::size_t kLongestError = 4096;

class ErrorText {
 public:
  ares_checkpoint_error abi() { return {text_.data(), text_.size()}; }
  std::string_view text() {
    text_.back() = '\0';
    return text_.data();
  }
  Status status(std::int32_t result) { return from_abi(result, text()); }

 private:
  std::array<char, kLongestError> text_{};
};

// A plugin that gives more than a manifest may have, or more URIs than there can be, is not believed.
constexpr std::size_t kMostUris = 1'000'000;

struct Taken {
  std::vector<std::string> texts;
  std::size_t most;
  bool too_much = false;
};
void take(void* context, ares_checkpoint_text text) {
  Taken& taken = *static_cast<Taken*>(context);
  if (text.size > kLongestManifest || taken.texts.size() >= taken.most) {
    taken.too_much = true;
    return;
  }
  taken.texts.emplace_back(from_abi(text));
}

Result<std::string> only(Status status, Taken& taken) {
  if (!status) return fail(status.error());
  if (taken.too_much || taken.texts.size() != 1)
    return fail(ErrorCode::internal, "the plugin did not give one manifest");
  return std::move(taken.texts.front());
}

}  // namespace

Result<std::unique_ptr<PluginBackend>> PluginBackend::open(const ares_checkpoint_plugin& plugin,
                                                           std::string_view options, Warn warn) {
  std::unique_ptr<PluginBackend> made(new PluginBackend(plugin, std::move(warn)));
  const ares_checkpoint_host host{sizeof host, made.get(), to_abi(options),
                                  [](void* context, ares_checkpoint_text line) {
                                    const auto& self = *static_cast<PluginBackend*>(context);
                                    if (self.warn_) self.warn_(std::string(from_abi(line)));
                                  }};
  ErrorText error;
  made->self_ = plugin.open(&host, error.abi());
  if (!made->self_) return fail(ErrorCode::failed_precondition, std::string(error.text()));
  return made;
}

PluginBackend::~PluginBackend() {
  if (self_) plugin_.close(self_);
}

Status PluginBackend::prepare(const std::string& place) {
  ErrorText error;
  return error.status(plugin_.prepare(self_, to_abi(place), error.abi()));
}

Status PluginBackend::publish(const std::string& directory, const std::string& uri,
                              const std::string& manifest) {
  ErrorText error;
  return error.status(
      plugin_.publish(self_, to_abi(directory), to_abi(uri), to_abi(manifest), error.abi()));
}

Status PluginBackend::withdraw(const std::string& uri, const std::string& directory) {
  ErrorText error;
  return error.status(plugin_.withdraw(self_, to_abi(uri), to_abi(directory), error.abi()));
}

Result<std::string> PluginBackend::read(const std::string& uri) {
  ErrorText error;
  Taken taken{{}, 1};
  return only(error.status(plugin_.read(self_, to_abi(uri), take, &taken, error.abi())), taken);
}

Result<std::string> PluginBackend::verify(const std::string& uri,
                                          const std::optional<Digest>& digest) {
  ErrorText error;
  Taken taken{{}, 1};
  return only(error.status(plugin_.verify(self_, to_abi(uri), digest ? digest->data() : nullptr,
                                          take, &taken, error.abi())),
              taken);
}

Status PluginBackend::fetch(const std::string& uri, const std::optional<Digest>& digest,
                            const std::string& directory) {
  ErrorText error;
  return error.status(plugin_.fetch(self_, to_abi(uri), digest ? digest->data() : nullptr,
                                    to_abi(directory), error.abi()));
}

Result<std::vector<std::string>> PluginBackend::list(const std::string& place) {
  ErrorText error;
  Taken taken{{}, kMostUris};
  if (Status done = error.status(plugin_.list(self_, to_abi(place), take, &taken, error.abi()));
      !done)
    return fail(done.error());
  if (taken.too_much) return fail(ErrorCode::internal, "the plugin gave too many URIs");
  return in_order(std::move(taken.texts));
}

Status PluginBackend::remove_older(const std::string& place, std::uint64_t oldest_kept) {
  ErrorText error;
  return error.status(plugin_.remove_older(self_, to_abi(place), oldest_kept, error.abi()));
}

}  // namespace ares::checkpoint
