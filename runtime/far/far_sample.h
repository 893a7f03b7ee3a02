// Some i drawn at random, whose sums are compared with exact ones. Used by FarRun.
#pragma once
#include <span>
#include <vector>

#include "runtime/sum/plan/pair_method.h"

namespace nbcc {

class FarSample {
 public:
  // `source` must outlive this object.
  explicit FarSample(const KernelSource& source);

  // Draws `wanted` of `count` chosen i, each once. True if others than before are drawn. `chosen`: these i; empty: all.
  bool draw(std::int64_t count, std::int64_t wanted, std::span<const std::int64_t> chosen);
  // Adds these of the chosen i, each once.
  void add(std::span<const std::int64_t> chosen);
  std::span<const std::int64_t> particles() const { return particles_; }  // rising
  // Some of the drawn i, rising, whose errors error_of_some() measures; empty: all drawn i. Until the next draw.
  void set_some(std::vector<std::int64_t> some);
  std::span<const std::int64_t> some() const { return some_.empty() ? particles() : std::span(some_); }
  // The request for the drawn i alone. Valid until the next draw.
  SumRequest chosen_of(SumRequest request) const {
    request.i_begin = 0;
    request.i_count = std::int64_t(particles_.size());
    request.i_list = particles_.data();
    return request;
  }
  bool is_complete() const { return is_complete_; }
  // Several processes draw a sample together: whether all have drawn all of their i.
  void set_complete(bool is_complete) { is_complete_ = is_complete; }

  // rows[k * columns() + c]: of the k-th drawn i, the exact sum of output component c, then for each output field the
  // sum of |terms|. Where several processes draw together, the rows of all processes, here and in error(). An i whose
  // terms are not finite, like a NaN of its own inputs, has no error. False: no i has finite terms.
  [[nodiscard]] bool set_exact(std::vector<double> rows);
  int columns() const { return components_ + fields_; }
  // True for an output of the pipeline, and not of its kernel alone, that has values.
  static bool is_compared(const FieldLayout& field) {
    return field.role == Role::Output && !is_hidden(field.reduction) && !keeps_index(field.reduction);
  }
  // [output field]: the sum of |terms| of a drawn i; a tenth of them have less.
  std::span<const double> typical_sizes() const { return typical_sizes_; }

  // totals[k * outputs + c]: of the k-th drawn i. Sets the errors of the statistics. Returns the rms of |error| / sum
  // of |terms|, the largest of all output fields; if not all i are drawn, what the rms of all i is unlikely to exceed.
  double error(std::span<const double> totals, FarStatistics& statistics) const;
  // The same for totals[k * outputs + c] of the k-th of some().
  double error_of_some(std::span<const double> totals, FarStatistics& statistics) const;

 private:
  double error_of_rows(std::span<const std::size_t> rows, std::span<const double> totals,
                       FarStatistics& statistics) const;
  std::size_t row_count() const { return exact_.size() / std::size_t(columns()); }
  double size_of_terms(std::size_t k, int field) const {
    return exact_[k * std::size_t(columns()) + std::size_t(components_ + field)];
  }

  const KernelSource& source_;
  int fields_ = 0, components_ = 0;  // outputs, their components
  bool is_complete_ = false;
  std::vector<std::int64_t> particles_, some_;
  std::vector<std::size_t> rows_of_some_;
  std::vector<double> exact_, typical_sizes_;
};

}  // namespace nbcc
