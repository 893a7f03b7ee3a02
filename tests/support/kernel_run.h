// A loaded kernel run on an oracle's input, below the C interface: from arrays of doubles, one for each component, of
// the host or of a GPU. Its entry point is run_kernel().
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/interpret.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/device_array.h"

namespace nbcc::test {

using Columns = std::vector<std::vector<double>>;  // [output component][chosen i]

struct KernelRunChoice {
  std::int64_t begin = 0, count = -1;  // of i; all from `begin` on
  const CudaGpu* arrays_on = nullptr;  // null: the host's
  LaunchConfig launch{};               // zeros: the device's choice
  // Of j, from the first to before the second, a run for each in this order; empty: all in one run.
  std::vector<std::pair<std::int64_t, std::int64_t>> parts{};
  std::function<void(SumState&)> prepare{};  // says which pairs act
  // The same before each part, which has so many j.
  std::function<void(SumState&, std::size_t part, std::int64_t nj)> prepare_part{};
  std::function<void(SumState&, const RunChoice&)> execute{};  // a run; null: SumState::run()
  std::function<void(SumState&)> after{};                      // looks at the sum when it has run
  // i and j are one set: a partner of a field of i (xi and xj) is bound to its array.
  bool one_set = false;
  std::vector<std::int64_t> i_list{};  // of i, if not empty: these, instead of a range
  bool accumulate = false;
  double before = 0;  // of every output before the run; those of i that are not chosen keep it
  int runs = 1;       // the same run so many times
  std::function<bool(const FieldLayout&)> ignores{};  // outputs that are not wanted; null: none
};

inline Columns run_kernel(const std::shared_ptr<const Kernel>& kernel, const OracleInput& input,
                          const KernelRunChoice& choice = {}) {
  SumState sum(kernel);
  sum.set_counts(input.ni, input.nj);
  sum.set_offsets(input.i_offset, input.j_offset);
  struct Array {
    std::vector<double> here;  // a field's components, one after the other
    std::unique_ptr<DeviceArray> there;
    const FieldLayout& field;
  };
  std::deque<Array> arrays;
  const auto partner = [&](const FieldLayout& field) {
    if (choice.one_set && field.role == Role::InputJ && kernel->derived("symmetric").obstacle.empty())
      for (const auto& [of_i, of_j] : kernel->derived("symmetric").as<SymmetricFacts>().partners)
        if (of_j == field.name) return of_i;
    return std::string();
  };
  for (const FieldLayout& field : kernel->source.fields) {
    const auto first = std::size_t(field.first), components = std::size_t(field.numbers());
    if (field.role == Role::Param) {
      sum.set_param(field.name, {input.params.data() + first, components});
      continue;
    }
    const bool of_j = field.role == Role::InputJ, of_pair = field.is_of_pair();
    const std::int64_t n = field.is_total() ? 1
                           : of_pair        ? std::int64_t(input.pairs->j.size())
                           : of_j           ? input.nj
                                            : input.ni;
    if (const std::string same = partner(field); !same.empty()) {
      sum.bind(field.name, sum.bound(same));
      continue;
    }
    Array& array = arrays.emplace_back(Array{{}, nullptr, field});
    if (choice.ignores && choice.ignores(field)) {
      sum.ignore(field.name);
      continue;
    }
    array.here.reserve(std::size_t(n) * components + 1);
    if (field.role == Role::Output) {
      array.here.assign(std::size_t(n) * components, choice.before);
    } else {
      for (std::size_t c = first; c < first + components; ++c) {
        const std::vector<double>& from = of_pair ? input.pair[c] : of_j ? input.j[c] : input.i[c];
        array.here.insert(array.here.end(), from.begin(), from.end());
      }
    }
    void* data = array.here.data();
    if (choice.arrays_on) {
      array.there = std::make_unique<DeviceArray>(*choice.arrays_on, 8 * array.here.size());
      array.there->put(data, 8 * array.here.size());
      data = array.there->data();
    }
    sum.bind(field.name, {data, Element::Double, n, 8, 8 * n});
  }
  sum.set_launch(choice.launch);
  if (choice.prepare) choice.prepare(sum);
  RunChoice run;
  run.clamp = true;  // as the oracle does
  run.i_begin = choice.begin;
  run.i_count = choice.count;
  run.accumulate = choice.accumulate;
  if (!choice.i_list.empty()) run.i_list = choice.i_list.data(), run.i_count = std::int64_t(choice.i_list.size());
  std::vector<std::pair<std::string, ArrayView>> of_j;  // all j, of which a part takes some
  if (!choice.parts.empty())
    for (const FieldLayout& field : kernel->source.fields)
      if (field.role == Role::InputJ) of_j.emplace_back(field.name, sum.bound(field.name));
  for (std::size_t k = 0; k < choice.parts.size(); ++k) {
    const auto [j_begin, j_end] = choice.parts[k];
    for (const auto& [name, all] : of_j)
      sum.bind(name, {static_cast<double*>(all.data) + j_begin, Element::Double, j_end - j_begin, 8, 8 * input.nj});
    sum.set_counts(input.ni, j_end - j_begin);
    sum.set_offsets(input.i_offset, input.j_offset + j_begin);
    if (choice.prepare_part) choice.prepare_part(sum, k, j_end - j_begin);
    run.part = k == 0 ? JPart::First : k + 1 == choice.parts.size() ? JPart::Last : JPart::Next;
    sum.run(run);
  }
  if (choice.parts.empty())
    for (int k = 0; k < choice.runs; ++k) choice.execute ? choice.execute(sum, run) : sum.run(run);
  sum.wait();
  if (choice.after) choice.after(sum);
  std::vector<std::int64_t> chosen = choice.i_list;
  if (chosen.empty())
    for (std::int64_t i = choice.begin; i < (choice.count < 0 ? input.ni : choice.begin + choice.count); ++i)
      chosen.push_back(i);
  Columns columns;
  for (Array& array : arrays) {
    if (array.field.role != Role::Output) continue;
    const auto components = std::size_t(array.field.components());
    if (array.here.empty()) {
      columns.resize(columns.size() + components);
      continue;
    }
    if (array.there) array.there->get(array.here.data(), 8 * array.here.size());
    if (array.field.is_histogram()) {  // as the oracle: all elements for the first component, of each i side by side
      Columns::value_type elements = array.here;
      if (!array.field.is_total()) {
        elements.clear();
        for (const std::int64_t i : chosen)
          for (std::int64_t e = 0; e < array.field.length; ++e)
            elements.push_back(array.here[std::size_t(e * input.ni + i)]);
      }
      columns.push_back(std::move(elements));
      columns.resize(columns.size() + components - 1);
      continue;
    }
    for (std::size_t c = 0; c < components; ++c) {
      if (array.field.is_of_pair()) {
        const auto pairs = std::int64_t(input.pairs->j.size());
        columns.emplace_back(array.here.data() + std::int64_t(c) * pairs,
                             array.here.data() + std::int64_t(c + 1) * pairs);
        continue;
      }
      if (array.field.is_total()) {
        columns.push_back({array.here[c]});
        continue;
      }
      const double* const from = array.here.data() + std::int64_t(c) * input.ni;
      std::vector<bool> is_chosen(static_cast<std::size_t>(input.ni));
      columns.emplace_back();
      for (const std::int64_t i : chosen) {
        columns.back().push_back(from[i]);
        is_chosen[std::size_t(i)] = true;
      }
      for (std::int64_t i = 0; i < input.ni; ++i)
        if (!is_chosen[std::size_t(i)] && from[i] != choice.before)
          throw std::logic_error("output '" + array.field.name + "' of an i that is not chosen was written");
    }
  }
  return columns;
}

}  // namespace nbcc::test
