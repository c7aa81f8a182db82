#include "checkpoint/s3/sigv4.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <ctime>

namespace ares::checkpoint::s3 {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
using Hash = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

std::string hex(const Hash& hash) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : hash) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Hash sha256(std::string_view text) {
  Hash hash;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash.data());
  return hash;
}

Hash hmac(std::string_view key, std::string_view text) {
  Hash hash;
  unsigned int size = hash.size();
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash.data(), &size);
  return hash;
}

std::string_view bytes(const Hash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

// Without blanks around it, and with one for each run of blanks in it.
std::string trimmed(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == ' ' && (out.empty() || out.back() == ' ')) continue;
    out += c;
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string signed_headers(const Headers& headers) {
  std::string names;
  for (const auto& [name, value] : headers) names += (names.empty() ? "" : ";") + name;
  return names;
}

}  // namespace

std::string uri_encode(std::string_view text, bool keep_slash) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    const bool plain = letter || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
                       c == '~' || (c == '/' && keep_slash);
    if (plain) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

std::string canonical_query(const Parameters& query) {
  Parameters encoded;
  for (const auto& [name, value] : query)
    encoded.emplace_back(uri_encode(name, false), uri_encode(value, false));
  std::sort(encoded.begin(), encoded.end());
  std::string out;
  for (const auto& [name, value] : encoded) out += (out.empty() ? "" : "&") + name + "=" + value;
  return out;
}

std::string canonical_request(const Request& request, const std::string& payload_sha256) {
  std::string headers;
  for (const auto& [name, value] : request.headers) headers += name + ":" + trimmed(value) + "\n";
  return request.method + "\n" + uri_encode(request.path, true) + "\n" +
         canonical_query(request.query) + "\n" + headers + "\n" + signed_headers(request.headers) +
         "\n" + payload_sha256;
}

std::string amz_date(Time at) {
  const std::time_t seconds = std::chrono::duration_cast<Seconds>(at.time_since_epoch()).count();
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts);
  return text;
}

std::string authorization(const Request& request, const std::string& payload_sha256,
                          const std::string& date, const Scope& scope,
                          const Credentials& credentials) {
  const std::string day = date.substr(0, date.find('T'));
  const std::string where = day + "/" + scope.region + "/" + scope.service + "/aws4_request";
  const std::string to_sign = std::string(kAlgorithm) + "\n" + date + "\n" + where + "\n" +
                              hex(sha256(canonical_request(request, payload_sha256)));
  Hash key = hmac("AWS4" + credentials.secret, day);
  for (const std::string_view part :
       {std::string_view(scope.region), std::string_view(scope.service),
        std::string_view("aws4_request")})
    key = hmac(bytes(key), part);
  return std::string(kAlgorithm) + " Credential=" + credentials.key_id + "/" + where +
         ", SignedHeaders=" + signed_headers(request.headers) +
         ", Signature=" + hex(hmac(bytes(key), to_sign));
}

}  // namespace ares::checkpoint::s3
