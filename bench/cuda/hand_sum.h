// A hand-written kernel in one shape on a GPU, with particles on that GPU.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/cuda/hand_compiler.h"
#include "bench/cuda/hand_kernels.h"
#include "runtime/cuda/driver/cuda_memory.h"

namespace nbcc::bench {

// One kernel of a cubin.
class HandProgram {
 public:
  HandProgram(const CudaGpu& gpu, const HandCode& code, const char* entry);
  ~HandProgram();
  HandProgram(const HandProgram&) = delete;
  HandProgram& operator=(const HandProgram&) = delete;

  void launch(unsigned grid_x, unsigned grid_y, unsigned threads, void** arguments) const;

 private:
  const CudaGpu& gpu_;
  CudaModule* module_ = nullptr;
  CudaFunction* function_ = nullptr;
};

// What all shapes of a family share: the particles, and room for the parts and the results.
struct HandArrays {
  HandArrays(const CudaGpu& gpu, const HandFamily& family, const Particles& of, int most_parts);

  std::int64_t n;
  HandProblem problem;
  CudaBuffer particles, parts, results;
};

class HandSum {
 public:
  // `add_parts`: of the family, or none if it does not divide j.
  HandSum(const CudaGpu& gpu, const HandCompiler& compiler, const HandFamily& family, const HandShape& shape,
          const HandProgram* add_parts);

  // The numbers of parts of j that are worth trying for n particles.
  std::vector<int> possible_parts(std::int64_t n) const;
  void run(const HandArrays& arrays, int parts) const;
  // Of the last run: [particle][number of the row].
  std::vector<double> results(const HandArrays& arrays) const;

  const HandShape& shape() const { return shape_; }
  const HandFamily& family() const { return family_; }
  int registers() const { return registers_; }
  int spilled_bytes() const { return spilled_bytes_; }

 private:
  const CudaGpu& gpu_;
  const HandFamily& family_;
  HandShape shape_;
  int registers_ = 0, spilled_bytes_ = 0;
  std::optional<HandProgram> interact_;
  const HandProgram* add_parts_;
};

// The second kernel of a family; none if it does not divide j.
std::unique_ptr<const HandProgram> compile_add_parts(const CudaGpu& gpu, const HandCompiler& compiler,
                                                     const HandFamily& family);

constexpr int kMostParts = 64;

}  // namespace nbcc::bench
