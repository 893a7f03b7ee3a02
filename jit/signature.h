// A pipeline -> the arguments of its typed functions: what the declarations of every language are written from.
// Tested by tests/unit/signature_test.cpp.
#pragma once
#include <string>
#include <vector>

#include "compiler/kernel_source.h"
#include "compiler/text/source.h"

namespace nbcc {

struct Argument {
  enum class Kind : std::uint8_t { CountI, CountJ, InputI, InputJ, Param, Output };
  enum class Number : std::uint8_t { Real, Int32, Int64 };  // Real: double or float, by the function's flavour
  Kind kind = Kind::CountI;
  std::string name;  // of the field, or "ni", "nj"; '_' is added to a word of C and to a name that is taken
  Number number = Number::Int64;
  std::vector<int> shape;  // of what one particle has: {} one number, {3} a vec3, {4, 3} four of them
  std::string comment;     // what the pipeline's text says of the field, and of a param its default
  bool is_array() const { return kind != Kind::CountI && kind != Kind::CountJ && kind != Kind::Param; }
  bool on_i() const { return kind == Kind::InputI || kind == Kind::Output; }
  int width() const;  // numbers that one particle has
};

struct Signature {
  std::string pipeline;
  std::vector<std::string> description;  // the comment at the head of its file, line by line
  // The fields in order of declaration; before the first of each side stands that side's count. The count of a side
  // that has no field stands before everything.
  std::vector<Argument> arguments;
  // Whether there are arrays that may be of double or of float: else both functions take the same arguments, and
  // languages that know functions by these as well have one.
  bool has_flavours() const;
};

Signature signature_of(const Source& source, const KernelSource& kernel);

// Throws UsageError where the functions' names would be a word of C, C++ or Fortran's, one of C's own functions', or
// one name twice (in Fortran, where capitals do not count, as well).
void check_names(const std::vector<Signature>& signatures);

// Throws UsageError where Fortran could not have the names of the pipelines' functions or of their arguments.
void check_fortran_names(const std::vector<Signature>& signatures);

// Of C or C++, so that nothing of the user's can be called so.
bool is_word(const std::string& name);

// The names that a pipeline's functions have in C, its own first.
std::vector<std::string> function_names(const std::string& pipeline);

}  // namespace nbcc
