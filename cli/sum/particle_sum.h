// A pipeline on a device with the particles of a table bound to it: a wrapper of the public nbcc.hpp. It is a separate
// file because nbcc.hpp and the compiler's headers define the same names.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/options/kernel_options.h"
#include "cli/sum/random_pairs.h"
#include "particles/bind_particles.h"
#include "particles/files/param_value.h"
#include "runtime/sum/plan/device.h"

namespace nbcc {

class CudaKernel;

class ParticleSum {
 public:
  struct Text {
    std::string filename, text;
  };
  // Opens the device, unless it is given, and compiles a file or a text. Throws nbcc.hpp's Error, like all functions
  // below.
  ParticleSum(const std::string& pipeline_file, const KernelChoice& choice, const std::vector<ParamValue>& params = {},
              const std::shared_ptr<KernelDevice>& given = nullptr);
  ParticleSum(const Text& pipeline, const KernelChoice& choice, const std::vector<ParamValue>& params = {},
              const std::shared_ptr<KernelDevice>& given = nullptr);
  ~ParticleSum();

  std::string device_name() const;
  // "avx2"; of a GPU its architecture, "sm_90".
  std::string instruction_set() const;
  std::string pipeline_name() const;
  // True for a GPU that computes in double precision at less than a quarter of the rate of single.
  bool is_slow_in_double() const;
  // The SHA-256 of the pipeline's text, as hexadecimal digits.
  const std::string& pipeline_sha256() const { return pipeline_sha256_; }
  // The pair method of the last run: "all pairs"; "" before the first run and if there was no i.
  std::string method() const;
  bool has_neighbours() const;
  const std::vector<InputField>& inputs() const { return inputs_; }
  // All params with their values; a param that was not set has its default.
  std::vector<ParamValue> params() const;

  // The input_pair fields, which bind() takes after the others.
  const std::vector<InputField>& pair_inputs() const { return pair_inputs_; }
  // The pairs of later runs; before bind().
  void set_pairs(const RandomPairs& pairs);

  // Sets params for later runs.
  void set_params(const std::vector<ParamValue>& params);

  enum class Arrays { OfHost, OfDevice };
  // Binds the columns, which must outlive the runs, and creates outputs of ni rows. OfDevice: binds copies in GPU
  // memory; results are not copied back to outputs().
  void bind(const std::vector<BoundField>& fields, std::int64_t ni, std::int64_t nj, Arrays arrays = Arrays::OfHost);
  // No warning that a guard compares the indices of two sets.
  void particles_are_random();
  void keep_j(bool keep);
  // `progress` is called during a run with the fraction of the work that is done, 0 to 1; null: no calls.
  void set_progress(std::function<void(double done)> progress);

  void run();
  void run(std::int64_t i_begin, std::int64_t i_count);
  void run(std::span<const std::int64_t> i_list);
  void wait();
  SumStatistics statistics() const;
  // The plan of a run over all i, as lines of text: pair method and reason, then launches and working memory per
  // device.
  std::string plan();
  // Warnings of the last run.
  std::vector<std::string> warnings() const;
  // A warning if the periodic box stated in `table` differs from the params' ("": none); `file` is for the message.
  std::string box_warning(const ParticleTable& table, const std::string& file) const;

  // On a GPU: the launch configuration of later runs; nbcc chooses the numbers that are 0.
  void set_launch(const LaunchConfig& overrides);
  const CudaKernel& cuda_kernel() const;

  // One column per output: double, or int64 if the output is integral. The column of a total has one row, or one for
  // each element of its array.
  std::vector<ParticleColumn>& outputs();
  // An element is true if the output is a total; parallel to outputs().
  const std::vector<bool>& totals() const;

 private:
  void prepare(const KernelChoice& choice, const std::vector<ParamValue>& params);

  struct State;
  std::unique_ptr<State> state_;
  std::string pipeline_sha256_;
  std::vector<InputField> inputs_, pair_inputs_;
};

}  // namespace nbcc
