// A pipeline -> the arguments of its typed functions, from which the declarations of every language are written, and
// names that they cannot have.
// Tested by tests/unit/signature_test.cpp.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "compiler/kernel_source.h"
#include "compiler/text/source.h"

namespace nbcc {

struct Argument {
  enum class Kind : std::uint8_t { CountI, CountJ, InputI, InputJ, Param, Output, InputPair };
  enum class Number : std::uint8_t { Real, Int32, Int64 };  // Real: double or float, by the function's flavour
  Kind kind = Kind::CountI;
  std::string name;  // of the field, or "ni", "nj"; '_' is added to a word of C and to a name that is taken
  Number number = Number::Int64;
  std::vector<int> shape;  // of what one particle has: {} one number, {3} a vec3, {4, 3} four of them
  std::string comment;     // what the pipeline's text says of the field, and of a param its default
  FieldLayout field = {};  // none of a count
  bool is_count() const { return kind == Kind::CountI || kind == Kind::CountJ; }
  bool is_array() const { return !is_count() && kind != Kind::Param; }
  bool on_i() const { return kind == Kind::InputI || kind == Kind::Output; }
  int width() const;  // numbers that one particle has
};

struct Signature {
  std::string pipeline;
  std::vector<std::string> description;  // the comment at the head of its file, line by line
  // The fields in order of declaration; before the first of each side stands that side's count. The count of a side
  // that has no field stands before everything.
  std::vector<Argument> arguments;
  // Its sums are over listed pairs, which no function takes: it is opened, and lists and arrays are given to a sum.
  bool is_only_opened = false;
  // Whether there are arrays that may be of double or of float: else both functions take the same arguments, and
  // languages that know functions by these as well have one.
  bool has_flavours() const;
};

// "double", "int32_t", of C: `real` is the flavour's. Params are few: they are double in either flavour.
std::string c_type(const Argument& argument, const std::string& real);

Signature signature_of(const Source& source, const KernelSource& kernel);

// Throws UsageError where a function of the pipelines would be called as a word of C or C++, as one of C's own
// functions or as another of them (in Fortran, where capitals do not count, as well).
void check_names(const std::vector<std::string>& pipelines);

// Of C or C++, so that nothing of the user's can be called so.
bool is_word(const std::string& name);

// The names that a pipeline's functions have in C.
std::set<std::string> function_names(const std::string& pipeline);

}  // namespace nbcc
