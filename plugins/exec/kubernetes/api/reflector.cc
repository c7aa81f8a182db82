#include "exec/kubernetes/api/reflector.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/clip.h"
#include "base/printable.h"

namespace ares::kubernetes {
namespace {

// A watch that ends sooner and has received nothing counts as a failure, so that a server that ends each at once is not
// flooded with them.
constexpr Duration kShortWatch = std::chrono::seconds(1);
constexpr Duration kLongWatch = std::chrono::seconds(10);
// After so many lists whose continue token has expired, the list is asked for in one page.
constexpr unsigned kMostExpiredLists = 3;
// After so many failures of a watch one after the other, the list is asked for: the server may not serve this version, and say so
// by another status than 410.
constexpr unsigned kMostFailedWatches = 4;

std::string key_of(const std::string& space, const std::string& name) {
  return space + "/" + name;
}

tl::unexpected<Error> malformed(const std::string& what) {
  return fail(ErrorCode::failed_precondition, "the API server's answer cannot be used: " + what);
}

}  // namespace

Reflector::Reflector(const ReflectorSettings& settings, std::uint64_t seed, Observer observer)
    : settings_(settings),
      random_(seed),
      observer_(std::move(observer)),
      lines_(settings.most_of_line) {}

Reflector::Step Reflector::begin() {
  return list_again({});
}

Reflector::Step Reflector::list_again(Duration delay) {
  ++list_;
  continue_token_.clear();
  return same_page(delay);
}

Reflector::Step Reflector::same_page(Duration delay) const {
  const std::size_t limit = expired_lists_ >= kMostExpiredLists ? 0 : settings_.page_size;
  return {ListStep{limit, continue_token_}, delay};
}

Reflector::Step Reflector::watch_again(Duration delay) {
  lines_ = JsonLines(settings_.most_of_line);
  has_received_ = false;
  const auto timeout =
      random_.between(settings_.shortest_watch.count(), settings_.longest_watch.count());
  return {WatchStep{resource_version_, Seconds(timeout)}, delay};
}

Duration Reflector::delay_of_failure(const std::string& why) {
  problem_ = why;
  return delay_after(++failures_, settings_.back_off, random_);
}

Reflector::Step Reflector::refuse(const std::string& why) {
  return list_again(delay_of_failure(why));
}

void Reflector::succeed() {
  failures_ = 0;
  problem_.clear();
}

Reflector::Step Reflector::take_page(std::string_view body) {
  const auto page = parse_object(body, "the list");
  if (!page) return refuse(page.error().message);
  const Json* const items = find(*page, {"items"});
  // An empty list of a Go program is null.
  if (items && !items->is_array() && !items->is_null()) return refuse("the list has no items");
  if (items && items->is_array())
    for (const Json& item : *items)
      if (const Status taken = take_item(item); !taken) return refuse(taken.error().message);
  const std::string& next = text_at(*page, {"metadata", "continue"});
  if (!next.empty()) {
    if (next == continue_token_) return refuse("the list goes on with the same page");
    continue_token_ = next;
    return same_page({});
  }
  const std::string& version = text_at(*page, {"metadata", "resourceVersion"});
  if (version.empty()) return refuse("the list has no resourceVersion");
  resource_version_ = version;
  expired_lists_ = 0;
  remove_unlisted();
  is_synced_ = true;
  // What is missed now is only what a watch would say; the problem of a watch stays until one has received something.
  if (failures_ == 0) problem_.clear();
  return watch_again({});
}

Status Reflector::take_item(const Json& item) {
  const auto found = known_.find(
      key_of(text_at(item, {"metadata", "namespace"}), text_at(item, {"metadata", "name"})));
  const std::string& version = text_at(item, {"metadata", "resourceVersion"});
  const bool is_unchanged = found != known_.end() && !version.empty() &&
                            found->second.resource_version == version &&
                            found->second.uid == text_at(item, {"metadata", "uid"});
  if (!is_unchanged)
    if (Status done = upsert(item); !done) return done;
  known_.at(key_of(text_at(item, {"metadata", "namespace"}), text_at(item, {"metadata", "name"})))
      .list = list_;
  return {};
}

Status Reflector::upsert(const Json& object) {
  Known fresh{text_at(object, {"metadata", "namespace"}), text_at(object, {"metadata", "name"}),
              text_at(object, {"metadata", "uid"}),
              text_at(object, {"metadata", "resourceVersion"}), list_};
  if (fresh.name.empty() || fresh.uid.empty()) return malformed("an object has no name or no uid");
  const std::string key = key_of(fresh.space, fresh.name);
  auto found = known_.find(key);
  if (found != known_.end() && found->second.uid != fresh.uid) {
    remove(key, nullptr);
    found = known_.end();
  }
  const bool is_new = found == known_.end();
  if (is_new) {
    found = known_.emplace(key, std::move(fresh)).first;
  } else {
    found->second = std::move(fresh);
  }
  const Known& known = found->second;
  observer_({is_new ? Change::Kind::added : Change::Kind::modified, known.space, known.name,
             known.uid, &object});
  return {};
}

void Reflector::remove(const std::string& key, const Json* object) {
  const auto found = known_.find(key);
  if (found == known_.end()) return;
  const Known gone = std::move(found->second);
  known_.erase(found);
  observer_({Change::Kind::deleted, gone.space, gone.name, gone.uid, object});
}

void Reflector::remove_unlisted() {
  std::vector<std::string> unlisted;
  for (const auto& [key, known] : known_)
    if (known.list != list_) unlisted.push_back(key);
  for (const std::string& key : unlisted) remove(key, nullptr);
}

Reflector::Step Reflector::list_failed(Failure failure, const std::string& why) {
  if (failure == Failure::gone) {
    ++expired_lists_;
    return list_again(expired_lists_ > kMostExpiredLists ? delay_of_failure(why) : Duration{});
  }
  const Duration delay = delay_of_failure(why);
  if (failure == Failure::unavailable) return same_page(delay);
  expired_lists_ =
      0;  // one page may be too large for the client, so that pages are better even if they expire
  return list_again(delay);
}

std::optional<Reflector::Step> Reflector::take_bytes(std::string_view bytes) {
  lines_.add(bytes);
  for (;;) {
    const auto line = lines_.next();
    if (!line) return refuse(line.error().message);
    if (!*line) return std::nullopt;
    if (auto step = take_line(**line)) return step;
  }
}

std::optional<Reflector::Step> Reflector::take_line(std::string_view line) {
  const auto event = parse_object(line, "an event of the watch");
  if (!event) return refuse(event.error().message);
  const std::string& type = text_at(*event, {"type"});
  const Json* const object = find(*event, {"object"});
  if (!object) return refuse("an event of the watch has no object");
  if (type == "ERROR") return take_error(*object);
  const std::string& version = text_at(*object, {"metadata", "resourceVersion"});
  if (version.empty()) return refuse("an event of the watch has no resourceVersion");
  if (type == "ADDED" || type == "MODIFIED") {
    if (const Status done = upsert(*object); !done) return refuse(done.error().message);
  } else if (type == "DELETED") {
    const std::string key =
        key_of(text_at(*object, {"metadata", "namespace"}), text_at(*object, {"metadata", "name"}));
    const auto found = known_.find(key);
    if (found != known_.end() && found->second.uid == text_at(*object, {"metadata", "uid"}))
      remove(key, object);
  } else if (type != "BOOKMARK") {
    return refuse("an event of the watch has the unknown type " + quote(type));
  }
  resource_version_ = version;
  has_received_ = true;
  succeed();
  return std::nullopt;
}

std::optional<Reflector::Step> Reflector::take_error(const Json& status) {
  const std::string why = printable(clip(text_at(status, {"message"})));
  const auto code = number_at(status, {"code"});
  const Reply reply{.status = code && *code >= 400 && *code < 600 ? static_cast<long>(*code) : 500,
                    .reason = text_at(status, {"reason"}),
                    .message = why};
  return watch_ended(failure_of(reply), why, {});
}

Reflector::Step Reflector::watch_ended(Failure failure, const std::string& why, Duration lasted) {
  if (lasted >= kLongWatch) succeed();
  if (failure == Failure::none) {
    if (has_received_ || lasted >= kShortWatch) return watch_again({});
    return watch_again(delay_of_failure("the API server ends each watch at once"));
  }
  if (failure == Failure::gone && failures_ == 0) {
    // The usual case after a restart of the API server. If it comes again at once, the lists are delayed.
    ++failures_;
    return list_again({});
  }
  const Duration delay = delay_of_failure(why);
  const bool goes_on = failure == Failure::unavailable && failures_ % kMostFailedWatches != 0;
  return goes_on ? watch_again(delay) : list_again(delay);
}

}  // namespace ares::kubernetes
