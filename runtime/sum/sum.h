// A kernel and the caller's arrays -> sums: what is bound is checked and becomes a request (device.h), dispatch.h says
// which pairs act, and the kernel's device carries it out without looking.
// Tested by tests/unit/sum_test.cpp.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/sum/device.h"

namespace nbcc {

// Which i-particles, and what becomes of what the outputs hold.
struct RunChoice {
  std::int64_t i_begin = 0, i_count = -1;  // i_count < 0: all from i_begin on
  const std::int64_t* i_list = nullptr;    // i_count indices, each at most once
  bool accumulate = false;
  void* stream = nullptr;  // of a GPU
};

// Every function throws UsageError; the message names the field, what was expected and what came.
class SumState {
 public:
  explicit SumState(std::shared_ptr<const Kernel> kernel);

  void set_param(std::string_view name, std::span<const double> values);
  void bind(std::string_view name, const ArrayView& view);
  void ignore(std::string_view name);
  void set_offsets(std::int64_t i_offset, std::int64_t j_offset);
  void set_counts(std::int64_t ni, std::int64_t nj);
  void keep_j(bool keep);
  void j_changed();
  // Of a GPU; other devices have nothing to choose.
  void set_launch(const LaunchConfig& overrides);
  LaunchConfig launch_for(std::int64_t ni, std::int64_t nj);
  void set_pairs(PairChoice choice);
  void set_skin(double skin);
  SumStatistics statistics() const { return summation_->statistics(); }
  void run(const RunChoice& choice = {});
  void wait();  // for the work of all runs

  const std::vector<FieldLayout>& fields() const { return kernel_->source.fields; }

 private:
  enum class Given : std::uint8_t { No, Yes, Ignored };
  std::size_t find(std::string_view name) const;
  std::string quoted(std::size_t field) const;
  std::int64_t count_of_i() const;
  std::int64_t count_of_j() const;
  std::int64_t count_of(std::span<const Role> roles, char side, std::optional<std::int64_t> set) const;
  void check_params() const;
  void check_neighbours(std::string_view what) const;
  void check_accumulate() const;
  void check_choice(const RunChoice& choice, std::int64_t ni) const;
  void forget_j(JReuse at_most);

  std::shared_ptr<const Kernel> kernel_;
  std::unique_ptr<Summation> summation_;
  std::vector<Given> given_;  // this and the next are parallel to the kernel's fields
  std::vector<ArrayView> views_;
  std::vector<double> params_;
  std::optional<std::int64_t> ni_, nj_;
  PairChoice pairs_ = PairChoice::Auto;
  SumRequest request_;  // what the next run has from before
};

}  // namespace nbcc
