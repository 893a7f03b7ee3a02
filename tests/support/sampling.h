// The part of a long family of cases that one run of the tests takes. Entry points: sampled(), in_sample().
//
// Sample number s takes the cases k for which k + s is a multiple of the period, so that as many samples in a row as
// the period is long take each case once. A family whose members are families themselves names the period of the outer
// one to the inner one, which then counts s / outer: as many samples in a row as the product of both periods take each
// case of each member once. NBCC_TEST_ALL=1 takes every case (./dev test --all). NBCC_TEST_SEED is the
// number of the sample; without it that is the number of the day, which is the same in all programs of a run. A program
// that samples prints the number, so that a failure can be repeated.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace nbcc::test {

bool tests_all();
std::size_t sample_number();

// `period` 1: always.
inline bool in_sample(std::size_t k, std::size_t period, std::size_t outer = 1) {
  return tests_all() || (k + sample_number() / outer) % period == 0;
}

// The turn of a family that has a name.
inline std::size_t turn_of(std::string_view name) {
  std::size_t sum = 0;
  for (const char c : name) sum += static_cast<unsigned char>(c);
  return sum;
}

// A sample of a list has at least one case. Families that sample equal lists have different turns, so that they take
// different cases.
template <class T>
std::vector<T> sampled(const std::vector<T>& cases, std::size_t period, std::size_t turn = 0, std::size_t outer = 1) {
  std::vector<T> taken;
  for (std::size_t k = 0; k < cases.size(); ++k)
    if (in_sample(k + turn, std::min(period, cases.size()), outer)) taken.push_back(cases[k]);
  return taken;
}

template <class T>
std::vector<T> sampled(std::initializer_list<T> cases, std::size_t period, std::size_t turn = 0,
                       std::size_t outer = 1) {
  return sampled(std::vector<T>(cases), period, turn, outer);
}

// A sample of the numbers from `begin` to before `end`.
template <class T>
std::vector<T> sampled_range(T begin, T end, std::size_t period) {
  std::vector<T> numbers;
  for (T k = begin; k < end; ++k) numbers.push_back(k);
  return sampled(numbers, period);
}

}  // namespace nbcc::test
