// Neighbourhood -> a CUDA text of its own: templates/cuda_search.cu.in around the statements of a pair and those that
// locate a particle. One door: add_cuda_search(). What is launched when is the runtime's (runtime/cuda/cuda_search).
#include "compiler/emit/cuda/cuda_neighbours.h"

#include <fmt/core.h>

#include "compiler/emit/cuda/cuda_pair_body.h"
#include "compiler/emit/cuda/cuda_particles.h"
#include "compiler/text/fill_template.h"

namespace nbcc {
namespace {

std::string reach_name(SearchLayout::Reach reach) {
  using Reach = SearchLayout::Reach;
  switch (reach) {
    case Reach::Uniform:
      return "kUniform";
    case Reach::OfI:
      return "kOfI";
    case Reach::OfJ:
      return "kOfJ";
    case Reach::Max:
      return "kLarger";
    case Reach::Min:
      return "kSmaller";
    case Reach::Sum:
      return "kBoth";
  }
  return "";
}

int periodic_axes(const SearchLayout& layout) {
  int bits = 0;
  for (std::size_t axis = 0; axis < layout.periodic.size(); ++axis) bits |= int(layout.periodic[axis]) << axis;
  return bits;
}

}  // namespace

void add_cuda_search(KernelSource& source, const Pipeline& pipeline, const Plan& plan, const Options& options,
                     const Neighbourhood& neighbourhood) {
  const CudaPairBody body = cuda_pair_body(pipeline, plan, options, CudaPairs::Neighbours);
  const LocateText locate = locate_text(neighbourhood, plan, cuda_scalar_spelling(), {"row[{}]", "row[{}]", "row[{}]"});
  source.search = search_layout(neighbourhood);
  source.search.packed_bytes = body.needs.staged_bytes;
  // In single precision coordinates are rounded, and their images are.
  const char* const coordinates = options.precision == Precision::Single ? "0x1p-20" : "0x1p-48";
  const std::string find_self = "const index self[1] = {i + a.i_offset - a.j_offset};";
  source.search_text =
      fill_template("cuda_search.cu", {{"title", cuda_title(pipeline, options)},
                                       {"types", cuda_types(kSearchLaunch, "0", options.precision, plan.has_cells)},
                                       {"particles", cuda_particles(pipeline, plan, body)},
                                       {"axes", std::to_string(source.search.axes)},
                                       {"periodic", std::to_string(periodic_axes(source.search))},
                                       {"reach", reach_name(source.search.reach)},
                                       {"coordinates", coordinates},
                                       {"packed_bytes", std::to_string(source.search.packed_bytes)},
                                       {"locate_i", locate.i},
                                       {"locate_j", locate.j},
                                       {"extent", locate.extent},
                                       {"uniform", body.uniform},
                                       {"load_i", body.load_i},
                                       {"stage_j", body.stage_j},
                                       {"find_self", body.tests_self ? find_self : ""},
                                       {"pair_j", body.pair_j},
                                       {"pair", body.pair},
                                       {"flush", body.flush}});
}

}  // namespace nbcc
