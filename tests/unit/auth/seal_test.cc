// Tests: sodium
#include "auth/seal.h"

#include <gtest/gtest.h>

#include <random>

#include "auth/blob_id.h"

namespace ares::auth {
namespace {

TEST(Seal, IsValidOnlyForTheSealedMessage) {
  const auto key = SessionKey::random();
  const std::string mac = seal(key, Direction::request, 7, 8, "payload");
  EXPECT_TRUE(verify_seal(key, Direction::request, 7, 8, "payload", mac));
  EXPECT_FALSE(verify_seal(SessionKey::random(), Direction::request, 7, 8, "payload", mac));
  EXPECT_FALSE(verify_seal(key, Direction::answer, 7, 8, "payload", mac));
  EXPECT_FALSE(verify_seal(key, Direction::node_up, 7, 8, "payload", mac));
  EXPECT_FALSE(verify_seal(key, Direction::request, 8, 8, "payload", mac));
  EXPECT_FALSE(verify_seal(key, Direction::request, 7, 7, "payload", mac));
  EXPECT_FALSE(verify_seal(key, Direction::request, 7, 8, "payloae", mac));
  EXPECT_FALSE(verify_seal(key, Direction::request, 7, 8, "payload ", mac));
  EXPECT_FALSE(verify_seal(key, Direction::request, 7, 8, "", mac));
}

TEST(Seal, ChangeOfAnyBitOfTheMacIsDetected) {
  const auto key = SessionKey::random();
  const std::string mac = seal(key, Direction::answer, 1, 2, "x");
  for (std::size_t bit = 0; bit < mac.size() * 8; ++bit) {
    std::string changed = mac;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(verify_seal(key, Direction::answer, 1, 2, "x", changed)) << bit;
  }
  EXPECT_FALSE(verify_seal(key, Direction::answer, 1, 2, "x", ""));
  EXPECT_FALSE(verify_seal(key, Direction::answer, 1, 2, "x", mac.substr(1)));
  EXPECT_FALSE(verify_seal(key, Direction::answer, 1, 2, "x", mac + "x"));
}

TEST(SessionKey, IsReadFromACredential) {
  const auto key = SessionKey::random();
  auto same = SessionKey::from_credential_payload(key.to_credential_payload());
  ASSERT_TRUE(same);
  EXPECT_TRUE(
      verify_seal(*same, Direction::request, 0, 1, "x", seal(key, Direction::request, 0, 1, "x")));
}

TEST(SessionKey, OtherPayloadsAreRefused) {
  const std::string good = SessionKey::random().to_credential_payload();
  std::mt19937 random(2);
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(SessionKey::from_credential_payload(good.substr(0, size)));
  EXPECT_FALSE(SessionKey::from_credential_payload(good + "x"));
  for (int i = 0; i < 1000; ++i) {
    std::string noise(random() % 100, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    EXPECT_FALSE(SessionKey::from_credential_payload(noise));
  }
}

TEST(ReplayWindow, AcceptsEachNumberOnceInAnyOrder) {
  std::mt19937 random(3);
  std::vector<std::uint64_t> numbers(ReplayWindow::kSpan);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i + 1;
  std::shuffle(numbers.begin(), numbers.end(), random);
  ReplayWindow window;
  for (const std::uint64_t number : numbers) EXPECT_TRUE(window.accept(number)) << number;
  for (const std::uint64_t number : numbers) EXPECT_FALSE(window.accept(number)) << number;
}

TEST(ReplayWindow, RefusesZeroAndTooOldNumbers) {
  ReplayWindow window;
  EXPECT_FALSE(window.accept(0));
  EXPECT_TRUE(window.accept(10'000));
  EXPECT_FALSE(window.accept(10'000 - ReplayWindow::kSpan));
  EXPECT_TRUE(window.accept(10'001 - ReplayWindow::kSpan));
  EXPECT_FALSE(window.accept(10'001 - ReplayWindow::kSpan));
}

// Compared with a set of all numbers.
TEST(ReplayWindow, AgreesWithASetOfAllNumbers) {
  std::mt19937_64 random(4);
  ReplayWindow window;
  std::set<std::uint64_t> seen;
  std::uint64_t highest = 0;
  for (int i = 0; i < 50'000; ++i) {
    const std::uint64_t jump = random() % 100 == 0 ? random() % 20'000 : random() % 300;
    const std::uint64_t number = highest + jump > 150 ? highest + jump - 150 : 1 + random() % 10;
    const bool fits = highest < ReplayWindow::kSpan || number > highest - ReplayWindow::kSpan;
    ASSERT_EQ(window.accept(number), fits && seen.insert(number).second) << number;
    highest = std::max(highest, number);
  }
}

TEST(BlobId, IsSha256) {
  const auto hex = [](const BlobDigest& id) {
    std::string text;
    for (const std::uint8_t byte : id) {
      constexpr char kDigits[] = "0123456789abcdef";
      text += {kDigits[byte >> 4], kDigits[byte & 15]};
    }
    return text;
  };
  // FIPS 180-2, appendix B.1.
  EXPECT_EQ(hex(blob_id("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(blob_id("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

}  // namespace
}  // namespace ares::auth
