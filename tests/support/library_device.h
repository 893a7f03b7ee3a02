// A GPU that runs pipelines as a compiled library has them, but without machine code: each program is compiled when a
// run loads it, and programs that `nbcc compile --arch` would not have put into the library are remembered.
#pragma once
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/program/cuda_device.h"
#include "runtime/image/cuda_programs.h"
#include "runtime/image/image_kernel.h"

namespace nbcc::test {

// All of `nbcc compile --with`.
inline std::vector<std::string> every_choice_of_rows() {
  std::vector<std::string> all;
  for (const StorableRow& row : kStorableRows) all.emplace_back(row.choice);
  return all;
}

// A CPU kernel that was built in `precision`, with its derived kernels, as a library that was compiled with all choices
// has them, read from its description; each with its source.
inline KernelSource as_in_library(KernelSource kernel, Precision precision) {
  PipelineImage image;
  image.rows = store_rows(kernel, every_choice_of_rows(), precision);
  image.cpu.push_back(std::move(kernel));
  const PipelineImage read = read_image(write_image(image));
  KernelSource held = with_stored_values(read.cpu.front(), read.rows);
  held.derivations = stored_derivations(read.rows, held.target);
  return held;
}

class LibraryDevice final : public KernelDevice {
 public:
  LibraryDevice(std::shared_ptr<CudaDevice> gpu, std::shared_ptr<const CudaCompiler> compiler,
                Precision precision = Precision::Single)
      : gpu_(std::move(gpu)), compiler_(std::make_shared<Recorder>(std::move(compiler))), precision_(precision) {}

  const std::string& name() const override { return gpu_->name(); }
  std::string_view backend() const override { return gpu_->backend(); }
  const std::string& dump_folder() const override { return gpu_->dump_folder(); }
  std::shared_ptr<const Kernel> load(KernelSource source) override {
    PipelineImage image;
    image.rows = store_rows(source, every_choice_of_rows(), precision_);
    image.cuda = std::move(source);
    for (StoredRow& row : image.rows) keep_launches_of_programs(row);
    image = read_image(write_image(image));
    std::vector<CudaProgramSource> programs = programs_of_kernel(image.cuda);
    for (const StoredRow& row : image.rows) std::ranges::move(programs_of_row(row), std::back_inserter(programs));
    for (const CudaProgramSource& one : programs)
      compiler_->known.emplace(source_hash(source_of(*one.kernel, one.variant)), one.variant.config.compiled());
    return load_image(*gpu_, image, [this] { return compiler_; });
  }
  void* allocate(std::size_t bytes) override { return gpu_->allocate(bytes); }
  void* allocate_shared(std::size_t bytes) override { return gpu_->allocate_shared(bytes); }
  void release(void* memory) noexcept override { gpu_->release(memory); }
  bool holds(const void* memory) override { return gpu_->holds(memory); }
  void write(void* to, const void* from_host, std::size_t bytes) override { gpu_->write(to, from_host, bytes); }
  void read(void* to_host, const void* from, std::size_t bytes) override { gpu_->read(to_host, from, bytes); }

  // The launch configurations and the ends of the sources of programs that a library would lack.
  const std::set<std::string>& unknown() const { return compiler_->unknown; }
  int compiled() const { return compiler_->compiled; }

 private:
  struct Recorder final : CudaCompiler {
    explicit Recorder(std::shared_ptr<const CudaCompiler> compiler) : of(std::move(compiler)) {}
    std::string identity() const override { return of->identity(); }
    std::vector<std::string> architectures() const override { return of->architectures(); }
    CudaCode compile(const std::string& text, const std::string& architecture, const LaunchConfig& config,
                     Form form) const override {
      {
        const std::lock_guard lock(mutex);
        ++compiled;
        if (!known.contains({source_hash(text), config.compiled()}))
          unknown.insert(describe(config) + "\n" + text.substr(0, 300) + "\n...\n" +
                         text.substr(text.size() - std::min<std::size_t>(text.size(), 500)));
      }
      return of->compile(text, architecture, config, form);
    }
    std::shared_ptr<const CudaCompiler> of;
    mutable std::mutex mutex;
    std::set<std::pair<std::uint64_t, LaunchConfig>> known;
    mutable std::set<std::string> unknown;
    mutable int compiled = 0;
  };

  std::shared_ptr<CudaDevice> gpu_;
  std::shared_ptr<Recorder> compiler_;
  Precision precision_;
};

}  // namespace nbcc::test
