// The file of cases, read field by field, for the programs in C++: what write_cases.cpp says is in it.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

inline int failures = 0;

inline void expect(bool is_so, const std::string& what) {
  if (is_so) return;
  std::printf("wrong: %s\n", what.c_str());
  ++failures;
}

// A file of cases, read field by field.
class Cases {
 public:
  Cases(const std::string& path, std::string precision) : file_(path), precision_(std::move(precision)) {}

  std::string pipeline, kind;
  std::size_t ni = 0, nj = 0;

  bool next() {
    if (!(file_ >> pipeline >> ni >> nj >> kind)) throw std::runtime_error("the file of cases ends in its middle");
    return pipeline != "end";
  }

  template <typename T>
  std::vector<T> numbers(const std::string& field) {
    std::string name, word;
    std::size_t count = 0;
    if (!(file_ >> name >> count) || name != field) throw std::runtime_error(pipeline + " has no " + field + " here");
    std::vector<T> values(count);
    for (T& value : values) {
      file_ >> word;
      value = T(std::strtod(word.c_str(), nullptr));
    }
    return values;
  }
  double param(const std::string& field) { return numbers<double>(field).at(0); }

  template <typename T>
  void compare(const std::string& field, const std::vector<T>& got) {
    const std::vector<double> expected = numbers<double>(field), single = numbers<double>("single"),
                              fine = numbers<double>("double");
    const std::vector<double>& bounds = precision_ == "double" ? fine : single;
    expect(got.size() == expected.size(), "the number of " + field);
    for (std::size_t k = 0; k < expected.size() && k < got.size(); ++k) {
      const double value = double(got[k]);
      if (value == expected[k] || (std::isnan(value) && std::isnan(expected[k]))) continue;
      const double stored = std::is_same_v<T, float> ? std::numeric_limits<float>::epsilon() : 0;
      if (std::abs(value - expected[k]) <= bounds[k] + stored * std::abs(expected[k])) continue;
      std::printf("%s, %zu x %zu, %s: %s[%zu] is %.17g, expected %.17g within %g\n", pipeline.c_str(), ni, nj,
                  kind.c_str(), field.c_str(), k, value, expected[k], bounds[k]);
      ++failures;
      return;
    }
  }

 private:
  std::ifstream file_;
  std::string precision_;
};
