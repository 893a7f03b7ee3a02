// Compares digests of all ranks; where they differ, the params one by one. Entry point: CommonSum::require_same().
#include "mpi/common_sum.h"

#define XXH_INLINE_ALL  // no library is linked for it
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <span>

#include "runtime/api/nbcc_ranks.h"

namespace nbcc {
namespace {

constexpr std::int64_t kUnknown = 0;  // instead of a digest

// Not kUnknown.
std::int64_t digest_of(std::vector<double> numbers) {
  for (double& number : numbers) number += 0.0;  // -0.0 is 0.0
  return std::int64_t(std::max<std::uint64_t>(XXH3_64bits(numbers.data(), numbers.size() * sizeof(double)), 1));
}

std::string text_of_value(double number) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

[[noreturn]] void refuse(int rank, const std::string& what) {
  throw Error(NBCC_ERROR_USAGE, "rank " + std::to_string(rank) + ": " + what);
}

}  // namespace

CommonSum::CommonSum(nbcc_sum* sum) : sum_(sum) {
  nbcc_field field;
  for (int k = 0; nbcc_sum_field(sum, k, &field) == 0; ++k)
    if (field.role == NBCC_PARAM) params_.emplace_back(field.name);
}

std::vector<double> CommonSum::values_of(std::size_t param) const {
  const double* values = nullptr;
  int count = 0;
  detail::call(nbcc_sum_get_param, sum_, params_[param].c_str(), &values, &count);
  return {values, values + count};
}

std::vector<std::int64_t> CommonSum::numbers() const {
  std::vector<double> all;
  for (std::size_t k = 0; k < params_.size(); ++k) {
    const std::vector<double> values = values_of(k);
    all.push_back(double(values.size()));
    all.insert(all.end(), values.begin(), values.end());
  }
  return {std::int64_t(params_.size()), std::int64_t(nbcc_sum_digest(sum_)), digest_of(all)};
}

void CommonSum::require_same(const Ranks& ranks, const std::vector<std::int64_t>& all) const {
  std::int64_t digest = kUnknown;
  int owner = 0;  // of `digest`
  bool same_params = true;
  for (int rank = 0; rank < ranks.count(); ++rank) {
    const auto its = std::span(all).subspan(std::size_t(rank) * kNumbers, kNumbers);
    if (its[0] != all[0]) refuse(rank, "the params are not those of rank 0's pipeline");
    if (digest == kUnknown) digest = its[1], owner = rank;
    if (its[1] != kUnknown && its[1] != digest)
      refuse(rank, "the statements are not those of rank " + std::to_string(owner) +
                       "'s pipeline: expected one pipeline on all ranks");
    same_params = same_params && its[2] == all[2];
  }
  if (!same_params) require_same_params(ranks);
}

void CommonSum::require_same_params(const Ranks& ranks) const {
  std::vector<std::int64_t> mine;
  for (std::size_t k = 0; k < params_.size(); ++k) {
    const std::vector<double> values = values_of(k);
    mine.push_back(values.empty() ? kUnknown : digest_of(values));
  }
  const std::vector<std::int64_t> all = ranks.gather(mine);
  for (std::size_t k = 0; k < mine.size(); ++k) {
    int first = ranks.count();  // the first rank that has values
    for (int rank = 0; rank < ranks.count(); ++rank) {
      const std::int64_t its = all[std::size_t(rank) * mine.size() + k];
      if (its == kUnknown) continue;
      first = std::min(first, rank);
      if (its != all[std::size_t(first) * mine.size() + k]) refuse_param(ranks, k, first, rank);
    }
  }
}

// Called on all ranks.
void CommonSum::refuse_param(const Ranks& ranks, std::size_t param, int first, int other) const {
  nbcc_field field;
  int k = 0;
  while (nbcc_sum_field(sum_, k, &field) == 0 && params_[param] != field.name) ++k;
  std::vector<double> values = values_of(param);
  values.resize(std::size_t(field.components));
  std::vector<std::int64_t> mine;
  for (const double value : values) mine.push_back(std::bit_cast<std::int64_t>(value));
  const std::vector<std::int64_t> all = ranks.gather(mine);
  const auto value_of = [&](int rank, std::size_t component) {
    return std::bit_cast<double>(all[std::size_t(rank) * mine.size() + component]);
  };
  std::size_t c = 0;
  while (c + 1 < mine.size() && value_of(first, c) == value_of(other, c)) ++c;
  const std::string which = mine.size() > 1 ? "number " + std::to_string(c) + " of " : "";
  refuse(other, which + "param '" + params_[param] + "' is " + text_of_value(value_of(other, c)) + " here and " +
                    text_of_value(value_of(first, c)) + " on rank " + std::to_string(first) +
                    ": expected one value on all ranks");
}

}  // namespace nbcc
