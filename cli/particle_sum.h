// A pipeline on a device with a table's particles bound to it, as nbcc.hpp offers it to anyone; apart from it because
// nbcc.hpp and the compiler's own headers have names in common.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/kernel_options.h"
#include "particles/bind_particles.h"
#include "particles/numbers.h"

namespace nbcc {

class CudaKernel;
class KernelDevice;
struct CudaTuning;

class ParticleSum {
 public:
  // Opens the device, unless it is given, and compiles. Throws nbcc.hpp's Error, as all that follows.
  ParticleSum(const std::string& pipeline_file, const KernelChoice& choice,
              const std::shared_ptr<KernelDevice>& given = nullptr);
  ~ParticleSum();

  std::string device_name() const;
  std::string pipeline_name() const;
  const std::vector<InputField>& inputs() const { return inputs_; }
  // Params with their values, defaults included: "eps2 = 0.0001".
  std::vector<ParamValue> params() const;

  void set_params(const std::vector<ParamValue>& params);
  enum class Arrays { OfHost, OfDevice };
  // The columns must outlive the runs. Makes the outputs, of ni rows. OfDevice: copies of the columns in the GPU's
  // memory are bound, and outputs() stays as it was made.
  void bind(const std::vector<BoundField>& fields, std::int64_t ni, std::int64_t nj, Arrays arrays = Arrays::OfHost);
  void keep_j(bool keep);

  void run();
  void run(std::int64_t i_begin, std::int64_t i_count);
  void run(std::span<const std::int64_t> i_list);
  void wait();

  // On a GPU: how the sum is cut from now on; what is bound stays so. Zeros leave the choice to the model, and what
  // `nbcc tune` has kept is not asked any more. Throws TextRefused, DeviceError: there can be no such kernel.
  void cut(const CudaTuning& tuning);
  const CudaKernel& cuda_kernel() const;  // as it is cut now

  // One column for each output: double, or int64 where the output is integral.
  std::vector<ParticleColumn>& outputs();

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::vector<InputField> inputs_;
};

}  // namespace nbcc
