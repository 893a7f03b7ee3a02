// The texts of a kernel beside that of all pairs, as a device compiles them: one door, so that what a library holds is
// what a device asks for.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/kernel_source.h"
#include "runtime/sum/reduction.h"

namespace nbcc {

using KernelText = std::pair<std::string, LaunchConfig>;

inline KernelText cuda_search_text(const KernelSource& source, bool leaves_out) {
  return {(leaves_out ? "#define NBCC_LEAVES_OUT\n" : "") + source.search_text, kSearchLaunch};
}

// `in_place`: j are read where they are, and may be shifted; `shared`: groups have so many j that four warps share
// them.
inline KernelText cuda_list_text(const KernelSource& source, bool leaves_out, bool in_place, bool shared) {
  LaunchConfig config = source.list_launch;
  // What is read in place is of small systems or of groups of cells. Each warp's partial sums stand in shared memory.
  const bool fits = config.threads * accumulators_of(source) * int(sizeof(double)) <= 48 << 10;
  if (shared && !in_place && fits) config.j_slices = config.threads / 32;
  return {std::string(leaves_out ? "#define NBCC_LEAVES_OUT\n" : "") +
              (in_place ? "#define NBCC_READS_IN_PLACE\n" : "") + source.list_text,
          config};
}

inline KernelText cuda_index_text(const KernelSource& source) { return {source.index_text, kIndexLaunch}; }

inline KernelText cuda_pair_text(const KernelSource& source) { return {source.pair_text, kPairLaunch}; }

inline std::vector<KernelText> all_other_texts(const KernelSource& source) {
  std::vector<KernelText> texts;
  if (!source.text_but.empty()) texts.push_back({source.text_but, source.launches.front()});
  if (!source.search_text.empty())
    for (const bool leaves_out : {false, true}) texts.push_back(cuda_search_text(source, leaves_out));
  if (!source.list_text.empty())
    for (const bool leaves_out : {false, true}) {
      for (const bool shared : {false, true}) texts.push_back(cuda_list_text(source, leaves_out, false, shared));
      texts.push_back(cuda_list_text(source, leaves_out, true, false));
    }
  if (!source.index_text.empty()) texts.push_back(cuda_index_text(source));
  if (!source.pair_text.empty()) texts.push_back(cuda_pair_text(source));
  return texts;
}

}  // namespace nbcc
