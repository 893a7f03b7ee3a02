// Pair body -> templates/cuda/frames/cuda_lists.cu.in and cuda_pairs.cu.in. Entry point: add_cuda_lists().
#include "compiler/emit/cuda/frames/cuda_lists.h"

#include <fmt/core.h>

#include <algorithm>

#include "compiler/emit/cuda/frames/cuda_particles.h"
#include "compiler/emit/cuda/launch/gpu_facts.h"
#include "compiler/emit/cuda/pair/cuda_pair_body.h"
#include "compiler/text/fill_template.h"

namespace nbcc {
namespace {

constexpr LaunchConfig kPairLaunch{128, 1, 128, 8, 1};

// Two launch configurations. The first: one warp for the i of a group, with the largest tile of j that fits into shared
// memory. The second, if the partial sums of all warps fit into shared memory: all warps of a block for the i of a
// group, which is better for long lists.
std::vector<LaunchConfig> launches_of_lists(int rows, int bytes, int accumulators) {
  constexpr int kShared = kGpuSharedBytesPerBlock;
  LaunchConfig config{128, rows, 128, 8, 1};
  const auto is_too_large = [&] { return config.threads / 32 * config.j_tile * bytes > kShared; };
  while (is_too_large() && config.j_tile > 32) config.j_tile /= 2;
  while (is_too_large() && config.threads > 32) config.threads /= 2;
  std::vector<LaunchConfig> launches{config};
  if (config.threads * accumulators * int(sizeof(double)) > kShared) return launches;
  config.j_slices = config.threads / 32;
  launches.push_back(config);
  return launches;
}

// Registers that a lane needs for one i.
int words_of_row(const CudaNeeds& needs) {
  const int words = needs.precision == Precision::Single ? 1 : 2;
  return needs.i_words + 3 * words * needs.accumulators;
}

// Rows of 32 i of a warp: two if their values fit into registers, with those of the loop and of a j-particle. Four were
// as fast in groups of 128 i (0.89 of the rate of all pairs, one H200), and slower in groups of 64.
int max_rows(const CudaNeeds& needs) { return words_of_row(needs) <= 36 ? 2 : 1; }

// Resident blocks of a multiprocessor, if a thread needs about `registers` registers.
int resident_blocks(int registers) {
  constexpr int kRegisters = kGpuRegisters / 128, kMaxBlocks = 6;
  return std::clamp(kRegisters / registers, 1, kMaxBlocks);
}

// Pairs of a row whose j are in flight at a time.
int pairs_ahead(const CudaNeeds& needs) { return needs.staged_bytes <= 16 ? 8 : 4; }

// self[r]: the index of i itself among the j; ~0u, which is no index, if it is not among them.
std::string find_self(const CudaPairBody& body) {
  if (!body.tests_self) return "";
  return "const index same_number = i + a.i_offset - a.j_offset;\n"
         "self[r] = same_number >= 0 && same_number < 0x7fffffff ? (unsigned)same_number : ~0u;";
}

// Adds a range's shift to a packed j, "arriving[u]"; empty if a value that is packed is computed from a position.
std::string shift_packed(const Plan& plan, const CudaPairBody& body, const std::map<int, int>& positions) {
  for (const auto& [node, column] : plan.j.derived) {
    const std::vector<bool> used = reachable(plan.graph, {node});
    for (NodeId id = 0; id <= node; ++id) {
      const Node& leaf = plan.graph[id];
      if (used[std::size_t(id)] && leaf.op == Op::InputJ && positions.contains(int(leaf.payload))) return "";
    }
  }
  std::string text;
  for (const auto& [component, axis] : positions) {
    const auto column = plan.j.whole.find(component);
    const bool is_packed = column != plan.j.whole.end() && body.j_columns.contains(column->second);
    if (!is_packed || plan.j.low.contains(component)) return "";
    text += fmt::format("arriving[u].c{0} += (decltype(arriving[u].c{0}))shift[{1}];\n", column->second, axis);
  }
  return text;
}

}  // namespace

void add_cuda_lists(KernelSource& source, const Pipeline& pipeline, const Plan& plan, const Options& options) {
  std::map<int, int> positions;
  for (std::size_t axis = 0; axis < source.search.j_positions.size(); ++axis)
    positions[source.search.j_positions[axis]] = int(axis);
  const CudaPairBody body = cuda_pair_body(pipeline, plan, options, CudaPairs::Listed, {}, positions);
  const std::string shifted =
      "#ifdef NBCC_UNPACKED_J\n#define NBCC_SHIFTED(x, by) ((x) + (by))\n#else\n#define NBCC_SHIFTED(x, by) "
      "(x)\n#endif\n";
  const std::string particles = shifted + cuda_particles(pipeline, plan, body);
  const std::string title = cuda_title(pipeline, options);
  const int packed_bytes = (body.needs.staged_bytes + 4 + 15) / 16 * 16;  // with the particle's index
  TemplateHoles holes = {{"title", title},        {"particles", particles}, {"uniform", body.uniform},
                         {"load_i", body.load_i}, {"load_j", body.stage_j}, {"find_self", find_self(body)},
                         {"pair_j", body.pair_j}, {"pair", body.pair},      {"flush", body.flush}};
  TemplateHoles pairs = holes;
  if (!source.sums_listed_pairs_only()) {
    const int rows = max_rows(body.needs);
    const std::vector<LaunchConfig> launches = launches_of_lists(rows, packed_bytes, accumulators_of(source));
    holes["types"] = cuda_types(launches.front(), "0", options.precision, plan);
    holes["declare_self"] = body.tests_self ? "unsigned self[kRows];" : "";
    holes["exclusions"] = cuda_exclusions();
    holes["ranges"] = declarations_of("cuda_list_data.h", "ranges");
    holes["argument"] = declarations_of("cuda_list_data.h", "lists");
    holes["params"] = std::to_string(std::max(source.params, 1));
    holes["axes"] = std::to_string(positions.size());
    // Lists of periodic sums have shifts in every run.
    const std::string packed = source.search.axes == 0 ? shift_packed(plan, body, positions) : "";
    source.on_gpu.shifts_packed = !packed.empty();
    holes["shift_packed"] =
        packed.empty() ? ""
                       : fmt::format(
                             "if (s.shifts) {{\n  const double* const shift = s.shifts + (index)(range + of) * "
                             "{};\n{}}}\n",
                             positions.size(), packed);
    holes["resident_blocks"] = std::to_string(resident_blocks(80 + rows * words_of_row(body.needs)));
    source.variants.push_back({Frame::Lists, fill_template("cuda_lists.cu", holes), launches, packed_bytes});
  }
  pairs["types"] = cuda_types(kPairLaunch, "0", options.precision, plan);
  pairs["argument"] = declarations_of("cuda_list_data.h", "rows");
  pairs["declare_self"] = body.tests_self ? "unsigned self[1];" : "";
  const int ahead = pairs_ahead(body.needs), of_pairs = ahead * (1 + body.needs.staged_bytes / 4);
  pairs["ahead"] = std::to_string(ahead);
  pairs["resident_blocks"] = std::to_string(resident_blocks(28 + of_pairs + words_of_row(body.needs)));
  source.variants.push_back({Frame::ListedPairs, fill_template("cuda_pairs.cu", pairs), {kPairLaunch}, packed_bytes});
}

}  // namespace nbcc
