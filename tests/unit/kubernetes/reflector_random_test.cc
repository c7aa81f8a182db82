// A Reflector against a model of an API server, with random changes, cuts, expired versions and divisions of the stream.
// Tests: reflector
#include "exec/kubernetes/api/reflector.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace ares::kubernetes {
namespace {

struct Object {
  std::string uid;
  int version = 0;
  friend bool operator==(const Object&, const Object&) = default;
};
using Objects = std::map<std::string, Object>;

std::string text_of(const std::string& name, const Object& object) {
  return R"({"metadata":{"name":")" + name + R"(","uid":")" + object.uid +
         R"(","resourceVersion":")" + std::to_string(object.version) + "\"}}";
}

// Keeps the state after each change, and forgets old ones when it is compacted.
class ModelServer {
 public:
  explicit ModelServer(Random& random) : random_(random) { states_.push_back({}); }

  void change() {
    const std::string name = "o" + std::to_string(random_.below(12));
    Objects next = states_.back();
    ++revision_;
    const auto found = next.find(name);
    std::string type;
    Object object;
    if (found == next.end()) {
      type = "ADDED";
      object = {"u" + std::to_string(revision_), revision_};
      next[name] = object;
    } else {
      object = {found->second.uid, revision_};
      type = random_.percent(40) ? "DELETED" : "MODIFIED";
      if (type == "DELETED") {
        next.erase(found);
      } else {
        found->second = object;
      }
    }
    events_.push_back(R"({"type":")" + type + R"(","object":)" + text_of(name, object) + "}\n");
    states_.push_back(std::move(next));
  }
  void compact() { oldest_ = static_cast<int>(random_.between(oldest_, revision_)); }

  const Objects& state() const { return states_.back(); }
  int revision() const { return revision_; }
  bool has(int revision) const { return revision >= oldest_; }

  // The page, or none if its token has expired. A token is "REVISION:POSITION".
  std::optional<std::string> list(std::size_t limit, const std::string& token) const {
    const int revision = token.empty() ? revision_ : std::stoi(token);
    const std::size_t from = token.empty() ? 0 : std::stoul(token.substr(token.find(':') + 1));
    if (!has(revision)) return std::nullopt;
    std::string items;
    std::size_t at = 0;
    std::string next;
    for (const auto& [name, object] : states_[static_cast<std::size_t>(revision)]) {
      if (at++ < from) continue;
      if (limit != 0 && at > from + limit) {
        next = std::to_string(revision) + ":" + std::to_string(from + limit);
        break;
      }
      items += (items.empty() ? "" : ",") + text_of(name, object);
    }
    return R"({"metadata":{"resourceVersion":")" + std::to_string(revision) + R"(","continue":")" +
           next + R"("},"items":[)" + items + "]}";
  }
  // What a watch sends from after this revision on.
  const std::string& event_after(int revision) const {
    return events_[static_cast<std::size_t>(revision)];
  }

 private:
  Random& random_;
  int revision_ = 0;
  int oldest_ = 0;
  std::vector<Objects> states_;      // by revision
  std::vector<std::string> events_;  // [i] leads from state i to state i + 1
};

class Scenario {
 public:
  explicit Scenario(std::uint64_t seed)
      : random_(seed),
        server_(random_),
        reflector_(settings(), seed, [this](const Change& change) { observe(change); }) {}

  void play() {
    Reflector::Step step = reflector_.begin();
    for (int round = 0; round < 300 || !is_current(); ++round) {
      ASSERT_LT(round, 5000) << "it does not become current";
      is_quiet_ = round >= 300;
      meddle();
      step = perform(step);
    }
    EXPECT_EQ(cache_, server_.state());
    EXPECT_EQ(reflector_.size(), server_.state().size());
  }

 private:
  static ReflectorSettings settings() { return {.page_size = 3, .most_of_line = 4096}; }
  bool is_current() const { return is_watching_ && at_ == server_.revision(); }

  void meddle() {
    if (is_quiet_) return;
    for (std::uint64_t changes = random_.below(4); changes > 0; --changes) server_.change();
    if (random_.percent(20)) server_.compact();
  }

  Reflector::Step perform(const Reflector::Step& step) {
    is_watching_ = false;
    if (const auto* list = std::get_if<Reflector::ListStep>(&step.what)) {
      if (!is_quiet_ && random_.percent(10))
        return reflector_.list_failed(Failure::unavailable, "cut");
      const auto page = server_.list(list->limit, list->continue_token);
      if (!page) return reflector_.list_failed(Failure::gone, "expired");
      if (!is_quiet_ && random_.percent(5))
        return reflector_.take_page(page->substr(0, page->size() / 2));
      return reflector_.take_page(*page);
    }
    return watch(std::stoi(std::get<Reflector::WatchStep>(step.what).resource_version));
  }

  Reflector::Step watch(int from) {
    at_ = from;
    if (!server_.has(from) && random_.percent(50))
      return reflector_.watch_ended(Failure::gone, "too old", {});
    std::string stream;
    if (!server_.has(from)) {
      stream = R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}})"
               "\n";
    } else {
      for (int to_go = is_quiet_ ? 1000 : 8; at_ < server_.revision() && to_go > 0; --to_go) {
        if (!is_quiet_) meddle_changes();
        stream += server_.event_after(at_++);
        if (random_.percent(20))
          stream += R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":")" +
                    std::to_string(at_) + "\"}}}\n";
      }
    }
    const bool is_cut = !is_quiet_ && random_.percent(30);
    if (is_cut) stream.resize(random_.below(stream.size() + 1));
    while (!stream.empty()) {
      const std::size_t size = 1 + random_.below(std::min<std::size_t>(stream.size(), 90));
      if (auto next = reflector_.take_bytes(stream.substr(0, size))) return *next;
      stream.erase(0, size);
    }
    is_watching_ = !is_cut;
    return reflector_.watch_ended(is_cut ? Failure::unavailable : Failure::none, "cut",
                                  std::chrono::seconds(20));
  }
  void meddle_changes() {
    if (random_.percent(30)) server_.change();
  }

  void observe(const Change& change) {
    switch (change.kind) {
      case Change::Kind::added: ASSERT_FALSE(cache_.contains(change.name)) << "added twice"; break;
      case Change::Kind::modified:
        ASSERT_TRUE(cache_.contains(change.name)) << "modified before it was added";
        ASSERT_EQ(cache_.at(change.name).uid, change.uid);
        break;
      case Change::Kind::deleted:
        ASSERT_TRUE(cache_.contains(change.name)) << "deleted before it was added";
        ASSERT_EQ(cache_.at(change.name).uid, change.uid);
        cache_.erase(change.name);
        return;
    }
    ASSERT_NE(change.object, nullptr);
    cache_[change.name] = {change.uid,
                           std::stoi(text_at(*change.object, {"metadata", "resourceVersion"}))};
  }

  Random random_;
  ModelServer server_;
  Objects cache_;
  Reflector reflector_;
  int at_ = 0;
  bool is_watching_ = false;
  bool is_quiet_ = false;
};

TEST(ReflectorRandom, CacheEqualsTheStateOfTheServer) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Scenario(seed).play();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace ares::kubernetes
