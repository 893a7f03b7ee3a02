// Entry points: check_int32_results(), non_finite_warning(). The second finds the cause by two more sums for one i:
// over the j before it and the j behind it, so that only the pair of the particle with itself is missing.
#include "runtime/sum/check/result_check.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/check/host_values.h"
#include "runtime/sum/check/same_particles.h"
#include "runtime/sum/request/plural.h"

namespace nbcc {
namespace {

// The rows that a run has written.
struct Rows {
  std::int64_t first = 0, count = 0;
  const std::int64_t* list = nullptr;
  std::int64_t operator[](std::int64_t k) const { return list ? list[k] : first + k; }
};

Rows rows_of(const SumState& sum, const RunChoice& choice, const FieldLayout& field, const ArrayView& view) {
  if (field.is_total() || field.is_of_pair()) return {0, view.count};
  if (choice.i_list && !sum.summation().can_read(choice.i_list)) return {};
  if (choice.i_list) return {0, choice.i_count, choice.i_list};
  const std::int64_t rest = view.count - choice.i_begin;
  return {choice.i_begin, choice.i_count < 0 ? rest : choice.i_count};
}

// True if a number has the exponent of infinity and NaN. Bits: an integer of the number's size.
template <typename Bits, Bits exponent>
bool any_special(const std::byte* from, std::int64_t count) {
  Bits any = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    Bits bits;
    std::memcpy(&bits, from + k * std::int64_t(sizeof bits), sizeof bits);
    any |= Bits((bits & exponent) == exponent);
  }
  return any != 0;
}

constexpr std::int64_t kBlock = 1 << 16;  // numbers that a thread reads at a time

// False if no number of a contiguous array is NaN or infinite; true for other arrays, whose numbers are to be tested
// one by one. The loops are vectorized, and long arrays are divided among threads, because every run does this.
bool may_have_special(const SumState& sum, const FieldLayout& field, const ArrayView& view) {
  const std::int64_t size = size_of(view.element), width = field.numbers();
  if (is_small(view.element) || view.stride != width * size || (width > 1 && view.component_stride != size))
    return true;
  const std::int64_t count = view.count * width;
  const auto special_in = [&](std::int64_t block) {
    const std::int64_t begin = block * kBlock, end = std::min(count, begin + kBlock);
    const std::byte* const from = static_cast<const std::byte*>(view.data) + begin * size;
    return view.element == Element::Float ? any_special<std::uint32_t, 0x7f800000u>(from, end - begin)
                                          : any_special<std::uint64_t, 0x7ff0000000000000u>(from, end - begin);
  };
  const std::int64_t blocks = (count + kBlock - 1) / kBlock;
  if (blocks == 1) return special_in(0);
  std::atomic<bool> any = false;
  sum.summation().on_host_threads(blocks, [&](std::int64_t block) {
    if (!any && special_in(block)) any = true;
  });
  return any;
}

bool is_fault(const FieldLayout& field, double value) {
  return std::isnan(value) || (field.reduction == Reduction::Sum && std::isinf(value));
}

bool may_be_faulty(const FieldLayout& field, const ArrayView& view) {
  return is_real(view.element) && !field.integral() && field.reduction != Reduction::Softmax &&
         field.reduction != Reduction::At;
}

bool has_fault(const FieldLayout& field, const ArrayView& view, std::int64_t row) {
  for (int c = 0; c < field.numbers(); ++c)
    if (is_fault(field, host_value(view, row, c))) return true;
  return false;
}

ArrayView part_of(const ArrayView& view, std::int64_t first, std::int64_t count) {
  ArrayView part = view;
  part.data = static_cast<std::byte*>(view.data) + first * view.stride;
  part.count = count;
  return part;
}

// True if `output` of particle i is finite without the pair of i with itself. Throws UsageError if the kernel takes
// no parts.
bool is_finite_without_self(const SumState& sum, std::shared_ptr<const Kernel> kernel, const FieldLayout& output,
                            std::int64_t i) {
  SumState one(std::move(kernel));
  const auto [i_offset, j_offset] = sum.offsets();
  const std::int64_t nj = sum.counts().second;
  std::vector<std::vector<double>> results(sum.fields().size());
  for (std::size_t f = 0; f < sum.fields().size(); ++f) {
    const FieldLayout& field = sum.fields()[f];
    if (field.role == Role::Param)
      one.set_param(field.name, sum.params().subspan(std::size_t(field.first), std::size_t(field.components())));
    if (field.role == Role::InputI) one.bind(field.name, part_of(sum.bound(field.name), i, 1));
    if (field.role != Role::Output) continue;
    results[f].resize(std::size_t(field.numbers()));
    one.bind(field.name, {results[f].data(), field.integral() ? Element::Int64 : Element::Double, 1,
                          std::int64_t(results[f].size() * sizeof(double)), sizeof(double)});
  }
  const auto run = [&](std::int64_t first, std::int64_t count, JPart part) {
    for (const FieldLayout& field : sum.fields())
      if (field.role == Role::InputJ) one.bind(field.name, part_of(sum.bound(field.name), first, count));
    one.set_counts(1, count);
    one.set_offsets(i_offset + i, j_offset + first);
    one.run({.part = part});
  };
  run(0, i, JPart::First);
  run(i + 1, nj - i - 1, JPart::Last);
  one.wait();
  const std::vector<double>& values = results[std::size_t(&output - sum.fields().data())];
  return std::ranges::none_of(values, [&](double value) { return is_fault(output, value); });
}

std::string cause_of(const SumState& sum, const RunChoice& choice, const std::shared_ptr<const Kernel>& kernel,
                     const FieldLayout& field, std::int64_t i) {
  const auto [i_offset, j_offset] = sum.offsets();
  if (!kernel || field.kind != FieldKind::Particle) return "";
  if (sum.has_lists() || choice.accumulate || choice.part != JPart::Whole) return "";
  if (i_offset != j_offset || i >= sum.counts().second || !are_same_particles(sum).value_or(false)) return "";
  try {
    if (!is_finite_without_self(sum, kernel, field, i)) return "";
  } catch (const std::runtime_error&) {  // a kernel without parts, a device without memory
    return "";
  }
  const std::string about = field.comment.empty() ? "" : fmt::format(" ({}: {})", field.name, field.comment);
  return fmt::format(
      "; the cause is the pair of the particle with itself: soften the pair, or write skip_if(i_index == j_index){}",
      about);
}

}  // namespace

void check_int32_results(const SumState& sum, const RunChoice& choice, const FieldLayout& field) {
  using Int = std::numeric_limits<std::int32_t>;
  const ArrayView view = sum.bound(field.name);
  const bool starts_at_limit = field.reduction == Reduction::Min || field.reduction == Reduction::Max;
  if (view.element != Element::Int32 || starts_at_limit) return;
  const Rows rows = rows_of(sum, choice, field, view);
  for (std::int64_t k = 0; k < rows.count; ++k) {
    for (int c = 0; c < field.numbers(); ++c) {
      const double value = host_value(view, rows[k], c);
      if (value > Int::min() && value < Int::max()) continue;
      throw UsageError(
          fmt::format("output '{}' of pipeline '{}': row {} of the int32 array is at the limit {}, to which results "
                      "beyond it are rounded; expected an int64 array",
                      field.name, sum.kernel().source.pipeline, rows[k], std::int64_t(value)));
    }
  }
}

std::optional<std::string> non_finite_warning(const SumState& sum, const RunChoice& choice, const FieldLayout& field,
                                              const std::shared_ptr<const Kernel>& kernel) {
  const ArrayView view = sum.bound(field.name);
  if (!may_be_faulty(field, view) || !may_have_special(sum, field, view)) return {};
  const Rows rows = rows_of(sum, choice, field, view);
  std::int64_t faults = 0, first = -1;
  for (std::int64_t k = 0; k < rows.count; ++k) {
    if (!has_fault(field, view, rows[k])) continue;
    if (faults++ == 0) first = rows[k];
  }
  if (faults == 0) return {};
  const std::string where = field.is_total()
                                ? ""
                                : fmt::format(" in {} of {}, first for {} = {}", faults, plural(rows.count, "row"),
                                              field.is_of_pair() ? "pair" : "i", first);
  return fmt::format("pipeline '{}': output '{}' is NaN{}{}{}", sum.kernel().source.pipeline, field.name,
                     field.reduction == Reduction::Sum ? " or infinite" : "", where,
                     cause_of(sum, choice, kernel, field, first));
}

}  // namespace nbcc
