// Random fields: what a random pipeline declares. Private to random_pipeline.cpp.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/field.h"
#include "tests/support/random_expression.h"
#include "tests/support/random_text.h"

namespace nbcc::test {

struct OutputField {
  std::string name;
  Reduction reduction = Reduction::Sum;
  std::string type;
  int width = 1;
  bool total = false;                                      // one value for the run
  int bins = 0;                                            // of a histogram; 0: it is none
  bool negative = false;                                   // sums: the sign of every term
  int places = 0;                                          // of a choice: the length of its array; 0: none
  std::vector<std::pair<std::string, std::string>> along;  // outputs that go along with it, and their values
  bool is_choice() const { return places > 0 || !along.empty(); }
  std::string one() const { return places > 0 ? name + fmt::format("[{}]", places - 1) : name; }
};

class FieldAuthor {
 public:
  FieldAuthor(RandomSource& random, Scope& scope, ExpressionAuthor& expressions, RandomText& text)
      : random_(random), scope_(scope), expressions_(expressions), text_(text) {}

  // Inputs and params; what expressions may speak of from then on.
  void inputs();
  // An output, and what goes along with it if it chooses.
  OutputField output();

 private:
  void optional_inputs();
  void tables();
  void goes_along(OutputField& output, const std::string& array);

  RandomSource& random_;
  Scope& scope_;
  ExpressionAuthor& expressions_;
  RandomText& text_;
};

}  // namespace nbcc::test
