// The arguments of a pipeline's typed functions, from which declarations in every language are written, and checks of
// names.
// Tested by tests/unit/jit/signature_test.cpp.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "compiler/kernel_source.h"
#include "compiler/text/source.h"

namespace nbcc {

struct Argument {
  // CountPairs, FirstOfI, JOfPair: the listed pairs, of a pipeline with inputs or results of pairs.
  enum class Kind : std::uint8_t {
    CountI,
    CountJ,
    CountPairs,
    FirstOfI,
    JOfPair,
    InputI,
    InputJ,
    Param,
    Output,
    InputPair
  };
  // Real: in arrays of particles double or float, by the flavour of the function; else double.
  enum class Number : std::uint8_t { Real, Int32, Int64 };
  Kind kind = Kind::CountI;
  // Of the field, or "ni", "nj", "pairs", "first", "j"; with '_' appended if it is a word of C or already in use.
  std::string name;
  Number number = Number::Int64;
  std::vector<int> shape;  // dimensions per particle: {} one number, {3} a vec3, {4, 3} four vec3; {2} a complex
  std::string comment;     // the comment of the field in the pipeline's text; for a param also its default
  FieldLayout field = {};  // unused for counts and listed pairs
  bool is_count() const { return kind == Kind::CountI || kind == Kind::CountJ || kind == Kind::CountPairs; }
  bool is_list() const { return kind == Kind::FirstOfI || kind == Kind::JOfPair; }
  bool is_field() const { return !is_count() && !is_list(); }
  bool is_array() const { return !is_count() && kind != Kind::Param; }
  // False for a total, which is an array or one number by itself.
  bool has_rows() const { return is_array() && !field.is_total(); }
  // The rows of an array: i-particles, j-particles or listed pairs. FirstOfI has one row more than i-particles.
  bool on_i() const { return kind == Kind::InputI || (kind == Kind::Output && !field.is_of_pair()); }
  bool on_j() const { return kind == Kind::InputJ; }
  bool on_pairs() const { return kind == Kind::InputPair || kind == Kind::JOfPair || field.is_of_pair(); }
  int width() const;          // numbers per particle
  bool has_flavours() const;  // double or float, by the flavour of the function
  bool is_one_complex() const { return field.is_complex && field.length == 0; }
};

struct Signature {
  std::string pipeline;
  std::vector<std::string> description;  // lines of the comment at the head of the pipeline's file
  // The fields in order of declaration; the count of a side precedes the side's first field. The count of a side
  // without fields is first of all, and ni precedes nj if neither side has fields. The listed pairs precede the first
  // field of pairs: `first`, `pairs`, `j`.
  std::vector<Argument> arguments;
  bool has_listed_pairs = false;  // the pipeline has inputs or results of pairs: it sums over listed pairs only
  // True if some arrays may be of double or of float. If not, both flavours have the same arguments, and languages with
  // overloading get one function.
  bool has_flavours() const;
  // False if the flavours differ in outputs only. A caller who ignores these outputs does not say which flavour to
  // call.
  bool inputs_have_flavours() const;
};

// The C type of an argument, "double" or "int32_t". `real`: the element type of real arrays. Params and totals are
// double in both flavours, because they are few, and a total has more digits than the arrays that it is made of.
std::string c_type(const Argument& argument, const std::string& real);

Signature signature_of(const Source& source, const KernelSource& kernel);

// Throws UsageError if the name of a pipeline's function would be a word of C or C++, the name of a C library function,
// or the name of another pipeline's function (also case-insensitively, for Fortran).
void check_names(const std::vector<std::string>& pipelines);

// True for keywords, reserved names and macros of C or C++, which users cannot use as names.
bool is_word(const std::string& name);

// The names of a pipeline's C functions.
std::set<std::string> function_names(const std::string& pipeline);

}  // namespace nbcc
