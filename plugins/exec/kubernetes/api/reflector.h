// Reflector: decides how a client follows all objects of one kind, by lists in pages and by watches, and finds out what has changed. It
// receives answers and returns what to ask next; it has no connection and no clock. The caller performs one step at a time.
// Owned by an ObjectWatch or a test; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "base/random.h"
#include "base/time.h"
#include "exec/kubernetes/api/json.h"
#include "exec/kubernetes/api/json_lines.h"
#include "exec/kubernetes/api/reply.h"
#include "exec/kubernetes/api/retry.h"

namespace ares::kubernetes {

struct Change {
  enum class Kind { added, modified, deleted };
  Kind kind;
  const std::string& space;  // empty for objects that are in no namespace
  const std::string& name;
  const std::string& uid;
  // Its new state, or its last one. Null: the deletion was found by a list, so its last state is not known.
  const Json* object;
};

struct ReflectorSettings {
  std::size_t page_size = 500;
  // For each watch a time between these is chosen, so that the watches of many clients do not begin together.
  Seconds shortest_watch{300};
  Seconds longest_watch{600};
  std::size_t most_of_line = std::size_t{8} << 20;
  BackOff back_off{};
};

class Reflector {
 public:
  // Called during take_page() and take_bytes(). Per object: added, then modified any number of times, then deleted. An object that
  // was removed and created again under the same name is deleted and added.
  using Observer = std::function<void(const Change&)>;

  struct ListStep {
    std::size_t limit;  // 0: all in one page
    std::string continue_token;
  };
  struct WatchStep {
    std::string resource_version;
    Seconds timeout;
  };
  struct Step {
    std::variant<ListStep, WatchStep> what;
    Duration delay{};  // to wait before
  };

  Reflector(const ReflectorSettings& settings, std::uint64_t seed, Observer observer);

  Step begin();
  Step take_page(std::string_view body);
  Step list_failed(Failure failure, const std::string& why);
  // Bytes of the body of the watch. None: go on reading; else the watch must be ended.
  std::optional<Step> take_bytes(std::string_view bytes);
  // `failure` none: the server ended it, or it was silent for too long.
  Step watch_ended(Failure failure, const std::string& why, Duration lasted);

  // Whether a whole list has been seen: before that, objects that exist may be missing.
  bool is_synced() const { return is_synced_; }
  std::size_t size() const { return known_.size(); }
  // Why changes may be missed at the moment; empty: nothing is wrong.
  const std::string& problem() const { return problem_; }

 private:
  struct Known {
    std::string space;
    std::string name;
    std::string uid;
    std::string resource_version;
    std::uint64_t list = 0;  // number of the list that has last contained it
  };
  using Objects = std::unordered_map<std::string, Known>;

  Step list_again(Duration delay);
  Step same_page(Duration delay) const;
  Step watch_again(Duration delay);
  Duration delay_of_failure(const std::string& why);
  Step refuse(const std::string& why);
  void succeed();

  Status take_item(const Json& item);
  Status upsert(const Json& object);
  void remove(const std::string& key, const Json* object);
  void remove_unlisted();
  std::optional<Step> take_line(std::string_view line);
  std::optional<Step> take_error(const Json& status);

  ReflectorSettings settings_;
  Random random_;
  Observer observer_;
  JsonLines lines_;
  Objects known_;
  std::uint64_t list_ = 0;
  std::string continue_token_;
  std::string resource_version_;
  std::string problem_;
  unsigned failures_ = 0;       // since something was received by a watch
  unsigned expired_lists_ = 0;  // one after the other
  bool is_synced_ = false;
  bool has_received_ = false;  // by this watch
};

}  // namespace ares::kubernetes
