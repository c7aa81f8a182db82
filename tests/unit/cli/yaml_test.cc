// Tests: cli/output/yaml, document
// The YAML of --yaml is the JSON of --json: a reader of YAML finds the same tree in both.
#include "cli/output/yaml.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "cli/output/document.h"
#include "cli/output/json.h"
#include "config/yaml_tree.h"

namespace ares::cli {
namespace {

bool same(const config::Value& a, const config::Value& b) {
  if (a.kind != b.kind || a.text != b.text || a.items.size() != b.items.size() ||
      a.entries.size() != b.entries.size())
    return false;
  for (std::size_t i = 0; i < a.items.size(); ++i)
    if (!same(a.items[i], b.items[i])) return false;
  for (std::size_t i = 0; i < a.entries.size(); ++i)
    if (a.entries[i].key != b.entries[i].key || !same(a.entries[i].value, b.entries[i].value))
      return false;
  return true;
}

TEST(Yaml, TreesAreInBlocks) {
  EXPECT_EQ(to_yaml(R"({"jobs": [{"job_id": 1, "key": {"tasks": []}, "list": [1, [2, 3], {}]}],
                        "now": -5, "moved": false, "spec": null, "meta": {"x": 1.5e20}})"),
            "jobs:\n"
            "  - job_id: 1\n"
            "    key:\n"
            "      tasks: []\n"
            "    list:\n"
            "      - 1\n"
            "      - - 2\n"
            "        - 3\n"
            "      - {}\n"
            "now: -5\n"
            "moved: false\n"
            "spec: null\n"
            "meta:\n"
            "  x: 1.5e+20\n");
  EXPECT_EQ(to_yaml("[]\n"), "[]\n");
  EXPECT_EQ(to_yaml("\"a\"\n"), "a\n");
  EXPECT_EQ(to_yaml("[1e21]"), "- 1.0e+21\n") << "readers of YAML 1.1 want a point";
}

TEST(Yaml, StringsThatMightBeSomethingElseAreQuoted) {
  for (const char* plain :
       {"RUNNING", "train-1", "/home/alice/a.out", "a b", "_x", "n1.example.org"})
    EXPECT_EQ(yaml_scalar(plain), plain);
  for (const char* other :
       {"",       "yes",  "No",   "NULL", "~",       "true",       "off",      "y",    "12",
        "1e5",    "0x1f", "-3",   "+3",   ".5",      "2030-01-20", "12:30:00", "1:02", " a",
        "a ",     "a: b", "a #b", "- x",  "-",       "---",        "?",        "@a",   "%a",
        "`a",     "*a",   "&a",   "!a",   "|",       ">",          "'a'",      "[a]",  "{a}",
        "n[1-3]", "a,b",  "=",    "<<",   "\xc3\xa9"})
    EXPECT_EQ(yaml_scalar(other), "\"" + std::string(other) + "\"");
  EXPECT_EQ(yaml_scalar("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(yaml_scalar("two\nlines\tand a tab"), R"("two\nlines\tand a tab")");
  EXPECT_EQ(yaml_scalar("\x01\x7f\xc2\x85\xe2\x80\xa8\xef\xbb\xbf"),
            R"("\u0001\u007f\u0085\u2028\ufeff")")
      << "control characters and what ends a line";
}

TEST(Yaml, EscapesOfJsonAreRead) {
  EXPECT_EQ(to_yaml(R"("\u00e9\ud83d\ude00\/\b")"), "\"\xc3\xa9\xf0\x9f\x98\x80/\\u0008\"\n");
  EXPECT_EQ(to_yaml(R"(["\ud83d", "\udc00x"])"), "- \"\xef\xbf\xbd\"\n- \"\xef\xbf\xbdx\"\n")
      << "half a pair of surrogates is no character";
}

TEST(Yaml, LongKeysStandAlone) {
  const std::string key(3000, 'k');
  const auto tree = config::parse_yaml(to_yaml("[{\"" + key + "\": {\"a\": 1}}]"), "y");
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(tree->items.at(0).entries.at(0).key, key);
  EXPECT_EQ(tree->items[0].entries[0].value.entries.at(0).value.text, "1");
}

class RandomJson {
 public:
  explicit RandomJson(unsigned seed) : random_(seed) {}

  std::string value(int depth) {
    const unsigned kind = random_() % 8;
    if (depth < 5 && kind < 2) {
      std::string out = "{";
      for (unsigned i = random_() % 4; i > 0; --i) {
        out += blank() + string("k" + std::to_string(i)) + ": " + blank() + value(depth + 1);
        if (i > 1) out += ",";
      }
      return out + blank() + "}";
    }
    if (depth < 5 && kind < 4) {
      std::string out = "[";
      for (unsigned i = random_() % 4; i > 0; --i)
        out += blank() + value(depth + 1) + (i > 1 ? "," : "");
      return out + blank() + "]";
    }
    static const std::vector<const char*> kWords = {"0", "-12", "true", "false", "null"};
    return kind == 4 ? kWords[random_() % kWords.size()] : string("");
  }

  unsigned size() { return 1 + static_cast<unsigned>(random_() % 7); }

 private:
  std::string blank() { return random_() % 3 ? "" : random_() % 2 ? " " : "\n  "; }

  // Without control characters, which the reader of configurations refuses.
  std::string string(const std::string& begin) {
    static const std::vector<const char*> kPieces = {
        "a",  " ",  ":", "#", "-", "yes", "null",     "1",
        "\"", "\\", "{", "]", ",", "'",   "\xc3\xa9", "\xf0\x9f\x98\x80",
        "|",  "/x"};
    std::string text = begin;
    for (unsigned i = random_() % 5; i > 0; --i) text += kPieces[random_() % kPieces.size()];
    std::string out;
    put_json_text(text, out);
    return out;
  }

  std::mt19937 random_;
};

// JSON is YAML, so that one reader can compare both.
TEST(Yaml, AnyDocumentInAnyPartsIsTheSameTree) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    RandomJson random(seed);
    const std::string json = random.value(0) + "\n";
    YamlStream stream;
    std::string yaml;
    for (std::size_t at = 0, size = 0; at < json.size(); at += size)
      yaml += stream.put(std::string_view(json).substr(at, size = random.size()));
    yaml += stream.finish();
    EXPECT_EQ(yaml, to_yaml(json));
    const auto expected = config::parse_yaml(json, "json"),
               found = config::parse_yaml(yaml, "yaml");
    ASSERT_TRUE(expected) << expected.error().message << json;
    ASSERT_TRUE(found) << found.error().message << yaml;
    ASSERT_TRUE(same(*expected, *found)) << json << yaml;
  }
}

TEST(Document, TheTwoFormsExcludeEachOther) {
  Document chosen;
  OptionTable table;
  add_document_options(table.options, chosen, "All.");
  const auto given = [&](const std::vector<std::string>& words) {
    chosen = {};
    const auto parsed = parse_options(table, words);
    return parsed ? apply_options(parsed->given) : fail(parsed.error());
  };
  EXPECT_TRUE(given({}) && !chosen);
  EXPECT_EQ(in_form(chosen, "{\"a\": 1}\n"), "{\"a\": 1}\n");
  EXPECT_TRUE(given({"--yaml"}) && chosen);
  EXPECT_EQ(in_form(chosen, "{\"a\": 1}\n"), "a: 1\n");
  DocumentParts parts(chosen);
  std::string text = parts.put("{\"a\": [");
  text += parts.put("1]}");
  EXPECT_EQ(text + parts.finish(), "a:\n  - 1\n");
  EXPECT_FALSE(given({"--yaml", "--json"}));
}

}  // namespace
}  // namespace ares::cli
