// SharedText: a text that copies share, for descriptions of machines: nodes are copied with each
// charge. A value; any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace ares {

class SharedText {
 public:
  SharedText() = default;
  explicit SharedText(std::string text)
      : text_(text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text))) {}

  bool empty() const { return !text_; }
  std::string_view text() const { return text_ ? std::string_view(*text_) : std::string_view(); }
  // Whether both share one text in memory, which implies equality.
  bool shares(const SharedText& other) const { return text_ == other.text_; }

  friend bool operator==(const SharedText& a, const SharedText& b) {
    return a.shares(b) || a.text() == b.text();
  }

 private:
  std::shared_ptr<const std::string> text_;
};

}  // namespace ares
