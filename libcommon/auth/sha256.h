// Sha256: the SHA-256 digest of bytes that come in parts. A value; one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace ares::auth {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::string_view bytes);
  // In hexadecimal, as sha256sum(1) prints it. Called once, last.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ares::auth
