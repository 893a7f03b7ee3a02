// The variants of a CUDA kernel as a device compiles them: a source, the macros that select code in it, and a launch
// configuration. A compiled library and a device use the same table of frames, so that the library has every variant
// that a device asks for.
// Tested by tests/unit/compiler/emit/cuda/emit_cuda_test.cpp and compiled_library_test.cpp.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/kernel_source.h"

namespace nbcc {

// Names one program of a kernel.
struct CudaVariant {
  Frame frame = Frame::AllPairs;
  LaunchConfig config;          // without j_splits
  bool exclusions = false;      // its nbcc_interact skips the pairs of an ExclusionTable
  bool reads_in_place = false;  // blocks read j from the caller's arrays, not packed j, and may add a range's shift
  auto operator<=>(const CudaVariant&) const = default;
};

// The macros that a frame's source supports.
struct CudaFrame {
  Frame frame;
  bool exclusions, reads_in_place;
};
constexpr CudaFrame kCudaFrames[] = {
    {Frame::AllPairs, true, false},     {Frame::Search, true, false},       {Frame::Lists, true, true},
    {Frame::ListedPairs, false, false}, {Frame::IndexChecks, false, false}, {Frame::Totals, false, false},
    {Frame::Symmetric, false, false},
};

// The source with the variant's macros. The kernel must have a variant of that frame.
inline std::string source_of(const KernelSource& kernel, const CudaVariant& variant) {
  return std::string(variant.exclusions ? "#define NBCC_EXCLUSIONS\n" : "") +
         (variant.reads_in_place ? "#define NBCC_UNPACKED_J\n" : "") + kernel.find(variant.frame)->source;
}

// True for a configuration of all pairs other than the source's default: a device chooses it for the sizes of sums at
// which it is faster.
inline bool is_choice_by_size(const KernelSource& kernel, const CudaVariant& variant) {
  return variant.frame == Frame::AllPairs && variant.config != kernel.find(variant.frame)->launches.front();
}

// Every variant that a device may ask for.
inline std::vector<CudaVariant> all_variants(const KernelSource& kernel) {
  std::vector<CudaVariant> all;
  for (const KernelVariant& variant : kernel.variants) {
    const CudaFrame& frame = *std::ranges::find(kCudaFrames, variant.frame, &CudaFrame::frame);
    for (const bool exclusions : {false, true}) {
      if (exclusions && !frame.exclusions) continue;
      for (const LaunchConfig& config : variant.launches) all.push_back({variant.frame, config, exclusions, false});
      if (frame.reads_in_place) all.push_back({variant.frame, variant.launches.front(), exclusions, true});
    }
  }
  return all;
}

}  // namespace nbcc
