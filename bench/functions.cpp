// Sums in which exp, erfc, sin and cos dominate against a loop of scalar libm calls, one thread each. Entry point:
// measure_functions().
#include <fmt/core.h>

#include "bench/measure.h"
#include "bench/scalar_functions.h"
#include "bench/sections.h"

namespace nbcc::bench {
namespace {

// The scalar loop on the particles of a generated sum.
class ScalarSide {
 public:
  ScalarSide(void (*loop)(const ScalarProblem&), const Generated& like) : loop_(loop) {
    const std::int64_t ni = like.ni(), nj = like.nj();
    const auto add_columns = [](const std::vector<double>& array, int components, std::int64_t n, auto& columns) {
      for (int c = 0; c < components; ++c) {
        auto& column = columns.emplace_back();
        for (std::int64_t k = 0; k < n; ++k) column.push_back(float(array[std::size_t(k * components + c)]));
      }
    };
    for (const Field& field : like.fields()) {
      if (field.role == NBCC_INPUT_I) add_columns(like.values(field), field.components, ni, i_);
      if (field.role == NBCC_INPUT_J) add_columns(like.values(field), field.components, nj, j_);
      if (field.role == NBCC_PARAM) params_.insert(params_.end(), like.values(field).begin(), like.values(field).end());
      if (field.role == NBCC_OUTPUT)
        for (int c = 0; c < field.components; ++c) sums_.emplace_back(std::size_t(ni), 0.0);
    }
    for (const auto& column : i_) i_pointers_.push_back(column.data());
    for (const auto& column : j_) j_pointers_.push_back(column.data());
    for (auto& sum : sums_) sum_pointers_.push_back(sum.data());
    problem_ = {ni, nj, i_pointers_.data(), j_pointers_.data(), params_.data(), sum_pointers_.data()};
  }
  void run() { loop_(problem_); }
  double at(int column, std::int64_t k) const { return sums_[std::size_t(column)][std::size_t(k)]; }

 private:
  void (*loop_)(const ScalarProblem&);
  std::vector<std::vector<float>> i_, j_;
  std::vector<std::vector<double>> sums_;
  std::vector<const float*> i_pointers_, j_pointers_;
  std::vector<double*> sum_pointers_;
  std::vector<float> params_;
  ScalarProblem problem_{};
};

}  // namespace

void measure_functions(const Setup& setup, Report& report) {
  struct Case {
    const char* pipeline;
    const char* functions;
    void (*loop)(const ScalarProblem&);
    Particles particles;
  };
  const std::int64_t n = setup.size(2048);
  std::vector<Row> rows;
  for (const Case& c :
       {Case{"gaussian_rbf", "exp", gaussian_rbf, centres(n)}, Case{"ewald_real", "erfc, exp", ewald_real, charges(n)},
        Case{"hologram", "sinpi, cospi", hologram, light(n)}}) {
    const Device device = open_device(setup, 1);
    Generated generated(device, pipeline_text(setup.folder, c.pipeline), c.pipeline, {}, c.particles);
    ScalarSide scalar(c.loop, generated);
    const Comparison times = compare({[&] { scalar.run(); }, [&] { generated.run(); }}, setup.rounds);
    const double pairs = double(n) * double(n) * 1e-9;
    rows.push_back({{"pipeline", c.pipeline},
                    {"functions", c.functions},
                    {"generated_G/s", pairs / times.times[1].median},
                    {"scalar_G/s", pairs / times.times[0].median},
                    {"times_faster", times.ratios[1]},
                    {"rms_difference",
                     generated.rms_difference([&](int column, std::int64_t k) { return scalar.at(column, k); })}});
  }
  report.table("functions", fmt::format("Sums of functions against scalar libm calls, one thread, {}", setup.isa),
               rows);
}

}  // namespace nbcc::bench
