// A pipeline on a device with a table's particles bound to it, as nbcc.hpp offers it to anyone; apart from it because
// nbcc.hpp and the compiler's own headers have names in common.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/kernel_options.h"
#include "particles/bind_particles.h"
#include "particles/files/param_value.h"
#include "runtime/sum/device.h"

namespace nbcc {

class CudaKernel;

class ParticleSum {
 public:
  struct Text {
    std::string filename, text;
  };
  // Opens the device, unless it is given, and compiles a file or a text. Throws nbcc.hpp's Error, as all that follows.
  ParticleSum(const std::string& pipeline_file, const KernelChoice& choice, const std::vector<ParamValue>& params = {},
              const std::shared_ptr<KernelDevice>& given = nullptr);
  ParticleSum(const Text& pipeline, const KernelChoice& choice, const std::vector<ParamValue>& params = {},
              const std::shared_ptr<KernelDevice>& given = nullptr);
  ~ParticleSum();

  std::string device_name() const;
  std::string pipeline_name() const;
  bool has_neighbours() const;
  const std::vector<InputField>& inputs() const { return inputs_; }
  // Params with their values, defaults included: "eps2 = 0.0001".
  std::vector<ParamValue> params() const;

  enum class Arrays { OfHost, OfDevice };
  // The columns must outlive the runs. Makes the outputs, of ni rows. OfDevice: copies of the columns in the GPU's
  // memory are bound, and outputs() stays as it was made.
  void bind(const std::vector<BoundField>& fields, std::int64_t ni, std::int64_t nj, Arrays arrays = Arrays::OfHost);
  void keep_j(bool keep);
  // Called with the fraction that is done while a run is under way; null: no call.
  void set_progress(std::function<void(double done)> progress);

  void run();
  void run(std::int64_t i_begin, std::int64_t i_count);
  void run(std::span<const std::int64_t> i_list);
  void wait();
  SumStatistics statistics() const;
  // How a run over all i would be done, in lines: method, reason, launches and working memory of each device.
  std::string plan();
  // Of the last run, and of a file that states another periodic box than the params do ("" : none).
  std::vector<std::string> warnings() const;
  std::string box_warning(const ParticleTable& table, const std::string& file) const;

  // On a GPU: numbers of the launch configuration from now on; zeros leave the choice.
  void set_launch(const LaunchConfig& overrides);
  const CudaKernel& cuda_kernel() const;

  // One column for each output: double, or int64 where the output is integral.
  std::vector<ParticleColumn>& outputs();

 private:
  void prepare(const KernelChoice& choice, const std::vector<ParamValue>& params);
  void set_params(const std::vector<ParamValue>& params);

  struct State;
  std::unique_ptr<State> state_;
  std::vector<InputField> inputs_;
};

}  // namespace nbcc
