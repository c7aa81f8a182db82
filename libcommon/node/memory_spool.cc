#include "node/memory_spool.h"

namespace ares::node {
namespace {

class MemoryDir final : public AttemptDir {
 public:
  explicit MemoryDir(std::shared_ptr<MemorySpool::Content> content)
      : content_(std::move(content)) {}
  ~MemoryDir() override {
    if (holds_lock_) content_->locked = false;
  }
  MemoryDir(const MemoryDir&) = delete;
  MemoryDir& operator=(const MemoryDir&) = delete;

  Status create(Record record, std::string_view text) override {
    if (!content_->records.emplace(record, text).second)
      return fail(ErrorCode::already_exists, "record exists");
    return {};
  }
  Result<std::string> read(Record record) const override {
    auto it = content_->records.find(record);
    if (it == content_->records.end()) return fail(ErrorCode::not_found, "no such record");
    return it->second;
  }
  bool has(Record record) const override { return content_->records.contains(record); }
  Status sync() const override {
    content_->synced = content_->records.size();
    return {};
  }
  Result<bool> lock() override {
    if (!content_->locked) content_->locked = holds_lock_ = true;
    return holds_lock_;
  }
  Status reserve_exit() override { return {}; }

 private:
  std::shared_ptr<MemorySpool::Content> content_;
  bool holds_lock_ = false;
};

}  // namespace

Result<std::vector<AttemptKey>> MemorySpool::list() const {
  std::vector<AttemptKey> keys;
  for (const auto& [key, content] : directories_) keys.push_back(key);
  return keys;
}

Result<std::unique_ptr<AttemptDir>> MemorySpool::create(const AttemptKey& key) {
  auto& content = directories_[key];
  if (!content) content = std::make_shared<Content>();
  return std::make_unique<MemoryDir>(content);
}

std::unique_ptr<AttemptDir> MemorySpool::open(const AttemptKey& key) const {
  auto it = directories_.find(key);
  return it == directories_.end() ? nullptr : std::make_unique<MemoryDir>(it->second);
}

bool MemorySpool::locked(const AttemptKey& key) const {
  auto it = directories_.find(key);
  return it != directories_.end() && it->second->locked;
}

Status MemorySpool::remove(const AttemptKey& key) {
  directories_.erase(key);
  return {};
}

Result<std::string> MemorySpool::read_identity() const {
  if (!identity_) return fail(ErrorCode::not_found, "a new spool");
  return *identity_;
}

Status MemorySpool::write_identity(std::string_view text) {
  identity_ = std::string(text);
  return {};
}

Status MemorySpool::remember_forgotten(const AttemptKey& key, Fence fence) {
  constexpr std::size_t kKept = 10'000;
  if (forgotten_.size() == 2 * kKept)
    forgotten_.erase(forgotten_.begin(), forgotten_.begin() + kKept);
  forgotten_.emplace_back(key, fence);
  return {};
}

Result<std::vector<std::pair<AttemptKey, Fence>>> MemorySpool::forgotten() const {
  return forgotten_;
}

std::shared_ptr<MemorySpool::Content> MemorySpool::content(const AttemptKey& key) const {
  auto it = directories_.find(key);
  return it == directories_.end() ? nullptr : it->second;
}

}  // namespace ares::node
