#include "exec/kubernetes/api/feature_discovery.h"

#include <map>
#include <memory>
#include <utility>

#include "exec/kubernetes/api/client.h"

namespace ares::kubernetes {
namespace {

// Owned by the callbacks of its call in flight.
class Questions : public std::enable_shared_from_this<Questions> {
 public:
  Questions(ApiClient& client, FeaturesDone done) : client_(client), done_(std::move(done)) {}

  void begin() {
    ask(
        "/version",
        [](std::string_view body, ServerFeatures& features) { return add_version(body, features); },
        [this] {
          ask(
              "/api",
              [](std::string_view body, ServerFeatures& features) {
                return add_core_versions(body, features);
              },
              [this] {
                ask(
                    "/apis",
                    [](std::string_view body, ServerFeatures& features) {
                      return add_groups(body, features);
                    },
                    [this] { ask_resources(); });
              });
        });
  }

 private:
  using Add = std::function<Status(std::string_view body, ServerFeatures& features)>;

  void ask(const std::string& path, Add add, std::function<void()> next) {
    client_.discover(path, [self = shared_from_this(), add = std::move(add),
                            next = std::move(next)](ApiResult answer) {
      if (!answer) return self->done_(fail(answer.error().error));
      if (const Status added = add(answer->body, self->features_); !added)
        return self->done_(fail(added.error()));
      next();
    });
  }

  void ask_resources() {
    for (const CallRow& row : call_table()) {
      const std::string group(row.group);
      if (const std::string version = features_.version_of(group); !version.empty())
        left_.emplace(group, version);
    }
    ask_next_resources();
  }

  void ask_next_resources() {
    if (left_.empty()) return finish();
    const auto [group, version] = *left_.begin();
    left_.erase(left_.begin());
    ask(
        group.empty() ? "/api/" + version : "/apis/" + group + "/" + version,
        [group = group](std::string_view body, ServerFeatures& features) {
          return add_resources(body, group, features);
        },
        [this] { ask_next_resources(); });
  }

  void finish() {
    if (const Status checked = features_.check_calls(); !checked)
      return done_(fail(checked.error()));
    for (const CallRow& row : call_table())
      client_.set_version(std::string(row.group), features_.version_of(row.group));
    client_.set_strict_fields(features_.has_strict_fields());
    done_(std::move(features_));
  }

  ApiClient& client_;
  FeaturesDone done_;
  ServerFeatures features_;
  std::map<std::string, std::string> left_;  // groups, with the version to ask for
};

}  // namespace

void discover(ApiClient& client, FeaturesDone done) {
  std::make_shared<Questions>(client, std::move(done))->begin();
}

}  // namespace ares::kubernetes
