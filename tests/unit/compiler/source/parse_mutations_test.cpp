// Pipelines and mistakes, each changed a little at random: whatever comes out is a pipeline or a CompileError, in time.
// The seed is fixed, so that a failure comes again; the fuzzer in tests/fuzz goes further.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "compiler/source/parse.h"
#include "tests/support/folders.h"

namespace nbcc {
namespace {

std::vector<std::string> corpus() {
  std::vector<std::filesystem::path> paths;
  for (const char* folder : {"/pipelines", "/tests/errors"})
    for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + folder))
      if (entry.path().extension() == ".pipe") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) texts.push_back(read_source(path.string()).text);
  return texts;
}

class Mutator {
 public:
  explicit Mutator(std::vector<std::string> texts) : texts_(std::move(texts)) {}

  std::string next() {
    std::string text = texts_[below(texts_.size())];
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : std::size_t(random_() % n); }
  // A run of up to 40 bytes.
  std::string piece_of(const std::string& text) { return text.substr(below(text.size() + 1), 1 + below(40)); }

  void change(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    switch (below(5)) {
      case 0:
        text.erase(at, 1 + below(20));
        return;
      case 1:
        text.insert(at, piece_of(text));
        return;
      case 2:
        text.insert(at, piece_of(texts_[below(texts_.size())]));
        return;
      case 3:
        text.insert(at, 1, "(){}[];,.=+-*/<>?:!&#\n\\ 0x"[below(26)]);
        return;
      default:
        if (at < text.size()) text[at] = char(32 + below(95));
    }
  }

  std::vector<std::string> texts_;
  std::mt19937_64 random_{20240607};
};

TEST(parse_mutations, are_pipelines_or_mistakes_in_time) {
  Mutator mutator(corpus());
  for (int k = 0; k < 200; ++k) {
    const std::string text = mutator.next();
    const std::clock_t start = std::clock();  // processor time: the machine may be busy with others
    try {
      std::vector<Diagnostic> warnings;
      parse(Source{"mutation.pipe", text}, &warnings);
    } catch (const CompileError& error) {
      EXPECT_FALSE(error.diagnostics.empty()) << text;
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\n" << text;
    }
    EXPECT_LT(std::clock() - start, 2 * CLOCKS_PER_SEC) << text;
  }
}

}  // namespace
}  // namespace nbcc
