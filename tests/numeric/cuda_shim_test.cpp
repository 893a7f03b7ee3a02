// The CUDA text of every pipeline, and of random ones, run on the shim against the oracle: every precision, tails in i
// and j, splits and chunks of j, in more than one order of blocks and threads. And the proof that these cases would
// notice: texts with one mistake each fail in at least one of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "compiler/emit/cuda/emit_cuda.h"
#include "compiler/passes/optimize/optimize.h"
#include "compiler/source/parse.h"
#include "particles/error_bounds/error_bound.h"
#include "tests/support/cuda_source.h"
#include "tests/support/cuda_text_run.h"
#include "tests/support/folders.h"
#include "tests/support/oracle.h"
#include "tests/support/random_particles.h"
#include "tests/support/random_pipeline.h"
#include "tests/support/sampling.h"

namespace nbcc::test {
namespace {

// Small, so that few particles make several blocks, tiles and passes of the staging loop.
constexpr LaunchConfig kShape{.threads = 8, .i_per_thread = 2, .j_tile = 16, .unroll = 2};
constexpr LaunchConfig kSlices{.threads = 8, .i_per_thread = 1, .j_tile = 16, .unroll = 2, .j_slices = 4};
constexpr LaunchConfig kBoth{.threads = 8, .i_per_thread = 4, .j_tile = 16, .unroll = 2, .j_slices = 2};
constexpr LaunchConfig kShapes[] = {kBoth, kShape, kSlices};
constexpr ShimOrder kForward{}, kBackward{ShimOrder::Kind::Backward}, kShuffled{ShimOrder::Kind::Shuffled, 7};
constexpr std::int64_t kSizes[][2] = {{37, 0}, {37, 1}, {1, 2}, {16, 31}, {37, 127}, {17, 128}, {1, 129}, {37, 300}};

KernelSource emit(const Pipeline& pipeline, const Options& options) {
  return emit_cuda(optimize(pipeline, options, cuda_target()), options);
}

struct Case {
  OracleInput input;
  Expectation expected;
};

Case make_case(const Pipeline& pipeline, const OracleInput& input, const Options& options) {
  std::vector<std::int64_t> all(std::size_t(input.ni));
  std::iota(all.begin(), all.end(), 0);
  return {input, expect(pipeline, input, all, options, cuda_target())};
}

// Why the columns are not what was expected; empty: they are.
std::string difference(const CudaTextRun::Columns& got, const Expectation& expected) {
  for (std::size_t c = 0; c < expected.values.size(); ++c) {
    for (std::size_t i = 0; i < expected.values[c].size(); ++i) {
      const double is = got[c][i], want = expected.values[c][i], bound = expected.bound[c][i];
      if (is == want || (std::isnan(is) && std::isnan(want)) || std::fabs(is - want) <= bound) continue;
      return "output " + std::to_string(c) + " of i " + std::to_string(i) + " is " + std::to_string(is) + ", not " +
             std::to_string(want) + " within " + std::to_string(bound);
    }
  }
  return "";
}

bool same_bits(const CudaTextRun::Columns& a, const CudaTextRun::Columns& b) {
  for (std::size_t c = 0; c < a.size(); ++c) {
    if (std::memcmp(a[c].data(), b[c].data(), a[c].size() * sizeof(double)) != 0) return false;
  }
  return true;
}

// So many j-splits that groups of them are combined first, of which the last is not full and not a multiple of what is
// loaded at a time.
const CudaTextChoice kChoices[] = {
    {.parts = 1}, {.parts = 3, .records = true}, {.parts = 2, .chunks = 2}, {.parts = 43}};

// Every case in every choice; why one of them failed, with the shim's own failures, or "".
std::string first_failure(CudaShim& shim, CudaTextRun& run, const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    for (const CudaTextChoice& choice : kChoices) {
      const std::string where = std::to_string(one.input.ni) + " x " + std::to_string(one.input.nj) + ", parts " +
                                std::to_string(choice.parts) + ": ";
      try {
        const std::string wrong = difference(run(one.input, choice), one.expected);
        if (!wrong.empty()) return where + wrong;
      } catch (const std::runtime_error& refused) {
        std::string text = where + refused.what();
        for (const std::string& failure : shim.take_failures()) text += "; " + failure;
        return text;
      }
    }
  }
  return "";
}

void set_orders(CudaShim& shim, ShimOrder order) {
  shim.set_block_order(order);
  shim.set_thread_order(order);
}

// ---- right texts
// -----------------------------------------------------------------------------------------------------

std::vector<Case> cases_of(const Oracle& oracle, const Options& options) {
  std::vector<Case> cases;
  for (const auto& [ni, nj] : kSizes) {
    const Particles particles = random_particles(oracle.pipeline(), ni, nj, std::uint64_t(ni * 7919 + nj));
    cases.push_back(make_case(oracle.pipeline(), oracle.columns_of(particles), options));
  }
  Particles shifted = random_particles(oracle.pipeline(), 20, 40, /*seed=*/29);
  shifted.i_offset = 1000;
  shifted.j_offset = 990;
  cases.push_back(make_case(oracle.pipeline(), oracle.columns_of(shifted), options));
  return cases;
}

constexpr std::size_t kPeriodOfLibrary = 2;  // of the sample of pipelines

class CudaText : public testing::TestWithParam<std::string> {};

TEST_P(CudaText, AgreesWithTheOracle) {
  const Oracle oracle(GetParam());
  // The policies differ in the expressions only, not in what surrounds them.
  const std::initializer_list<Options> all{{Precision::Single, Math::Fast},
                                           {Precision::Mixed, Math::Fast},
                                           {Precision::Double, Math::Fast},
                                           {Precision::Single, Math::Precise},
                                           {Precision::Double, Math::Precise}};
  for (const Options& options : sampled(all, 5, turn_of(GetParam()), kPeriodOfLibrary)) {
    CudaShim shim;
    CudaTextRun run(shim, emit(oracle.pipeline(), options), kShapes[int(options.precision)]);
    EXPECT_EQ(first_failure(shim, run, cases_of(oracle, options)), "")
        << name(options.precision) << ", " << name(options.math);
  }
}

// Results of the usual element and begun anew take a shorter way than others.
TEST_P(CudaText, HasTheSameResultsForEveryElement) {
  const Oracle oracle(GetParam());
  const OracleInput input = oracle.columns_of(random_particles(oracle.pipeline(), 40, 150, /*seed=*/5));
  for (const Precision precision :
       sampled({Precision::Single, Precision::Double}, 2, turn_of(GetParam()), kPeriodOfLibrary)) {
    CudaShim shim;
    CudaTextRun run(shim, emit(oracle.pipeline(), {.precision = precision}), kShape);
    CudaTextRun::Columns in_doubles = run(input);
    for (auto& column : in_doubles) {
      for (double& value : column) value = double(float(value));
    }
    EXPECT_TRUE(same_bits(run(input, {.output = Element::Float}), in_doubles)) << name(precision);
  }
}

// Whoever comes last combines the splits, in their own order.
TEST_P(CudaText, HasTheSameBitsInEveryOrder) {
  const Oracle oracle(GetParam());
  CudaShim shim;
  CudaTextRun run(shim, emit(oracle.pipeline(), {}), kBoth);
  const OracleInput input = oracle.columns_of(random_particles(oracle.pipeline(), 40, 150, /*seed=*/3));
  for (const CudaTextChoice& choice : kChoices) {
    set_orders(shim, kForward);
    const CudaTextRun::Columns forward = run(input, choice);
    for (const ShimOrder order : {kBackward, kShuffled}) {
      set_orders(shim, order);
      EXPECT_TRUE(same_bits(run(input, choice), forward)) << "parts " << choice.parts;
    }
  }
}

// A list of i gives each what it has among all.
TEST_P(CudaText, DoesAsWellWithChosenI) {
  const Oracle oracle(GetParam());
  CudaShim shim;
  CudaTextRun run(shim, emit(oracle.pipeline(), {}), kShape);
  const OracleInput input = oracle.columns_of(random_particles(oracle.pipeline(), 40, 60, /*seed=*/5));
  for (const unsigned parts : {1u, 2u}) {
    const CudaTextChoice some{.parts = parts, .list = {39, 0, 17, 3, 21}};
    CudaTextRun::Columns chosen = run(input, {.parts = parts});
    for (std::vector<double>& column : chosen) {
      std::vector<double> taken;
      for (const std::int64_t i : some.list) taken.push_back(column[std::size_t(i)]);
      column = taken;
    }
    EXPECT_TRUE(same_bits(run(input, some), chosen)) << "parts " << parts;
  }
}

std::string by_name(const testing::TestParamInfo<std::string>& info) { return info.param; }
// Histograms need the runtime (EveryPipeline runs them).
std::vector<std::string> without_histograms() {
  std::vector<std::string> names = library();
  std::erase(names, "radial_distribution");
  return names;
}
INSTANTIATE_TEST_SUITE_P(Library, CudaText, testing::ValuesIn(sampled(without_histograms(), kPeriodOfLibrary)),
                         by_name);

TEST(CudaTextOutputs, AccumulateWhatTheyHeldBefore) {
  const Oracle gravity("gravity");
  CudaShim shim;
  CudaTextRun run(shim, emit(gravity.pipeline(), {}), kShape);
  const OracleInput input = gravity.columns_of(random_particles(gravity.pipeline(), 20, 30, /*seed=*/5));
  const CudaTextRun::Columns alone = run(input), onto = run(input, {.parts = 2, .onto = true});
  for (std::size_t c = 0; c < alone.size(); ++c) {
    for (std::size_t i = 0; i < alone[c].size(); ++i)
      EXPECT_NEAR(onto[c][i], alone[c][i] + 1, 1e-5 * std::fabs(alone[c][i]));
  }
}

// The shape that the text itself asks for, which no macro changes.
TEST(CudaTextShape, MayBeTheTextsOwn) {
  const Oracle gravity("gravity");
  CudaShim shim;
  const KernelSource source = emit(gravity.pipeline(), {});
  CudaTextRun run(
      shim, source,
      {.threads = 128, .i_per_thread = source.first().launches.front().i_per_thread, .j_tile = source.tile});
  EXPECT_EQ(first_failure(shim, run, cases_of(gravity, {})), "");
}

// The shim's estimate of a root is no better than a GPU's.
TEST(CudaTextRoots, ShowThatNobodyRefinedThem) {
  const Oracle gravity("gravity");
  const Options refined{.precision = Precision::Double};
  CudaShim shim;
  CudaTextRun run(shim, emit(gravity.pipeline(), {.precision = Precision::Double, .root = RootMode::Estimate}), kShape);
  EXPECT_NE(first_failure(shim, run, cases_of(gravity, refined)), "");
}

class RandomCudaTexts : public testing::TestWithParam<int> {};

TEST_P(RandomCudaTexts, AgreeWithTheInterpreter) {
  const auto seed = std::uint64_t(GetParam());
  const std::string text = random_pipeline_text(seed);
  // The text of a kernel computes the values of each i; the runtime reduces them to totals.
  const Pipeline pipeline = without_totals(parse({"random.pipe", text}));
  if (std::ranges::any_of(pipeline.fields, &Field::is_histogram))
    GTEST_SKIP() << "histograms need the runtime (RandomPipelinesOnShim)";
  const Options options{.precision = Precision(seed % 3), .math = Math(seed / 3 % 2)};
  std::vector<Case> cases;
  for (const auto& [ni, nj] : {std::pair{37, 45}, {3, 129}, {17, 1}, {1, 0}})
    cases.push_back(make_case(pipeline, random_pipeline_input(pipeline, ni, nj, seed), options));
  CudaShim shim;
  CudaTextRun run(shim, emit(pipeline, options), kShapes[seed / 6 % 3]);
  EXPECT_EQ(first_failure(shim, run, cases), "") << name(options.precision) << ", " << name(options.math) << "\n"
                                                 << text;
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomCudaTexts, testing::ValuesIn(sampled_range(0, 24, 4)),
                         testing::PrintToStringParamName());

// ---- texts with a mistake: a quarter of the mistakes in a run
// --------------------------------------------------------------------------------------------

struct Mistake {
  const char *what, *right, *wrong;
};

constexpr Mistake kMistakes[] = {
    {"NoBarrierAfterStaging", "    __syncthreads();\n    TileSums", "    TileSums"},
    {"NoBarrierBeforeTheNextTile",
     "    // The next tile must not overwrite what a slower thread still reads.\n    __syncthreads();", ""},
    {"NoBarrierBeforeTheLastIsKnown", "  __syncthreads();\n  return last;", "  return last;"},
    {"OnePairTooMany", "for (int k = begin; k < end; ++k)", "for (int k = begin; k <= end; ++k)"},
    {"SlicesMissTheRest", "(count + NBCC_J_SLICES * kGroup - 1) / (NBCC_J_SLICES * kGroup)",
     "count / (NBCC_J_SLICES * kGroup)"},
    {"SlicesOverlap", "begin = slice * length", "begin = 0"},
    {"LastSliceBeyondTheTile", "lesser(begin + length, count)", "begin + length"},
    {"NoBarrierBeforeSlicesAreCombined", "kBlockI);\n  }\n  __syncthreads();\n  const index first_i",
     "kBlockI);\n  }\n  const index first_i"},
    {"LastSliceForgotten", "slice < NBCC_J_SLICES; ++slice) combine", "slice + 1 < NBCC_J_SLICES; ++slice) combine"},
    {"SlicesInOnePlace", "&partial[slice][0][row", "&partial[0][0][row"},
    {"OneSliceCombinesForAll", "int r = slice; r < NBCC_I_PER_THREAD; r += NBCC_J_SLICES", "int r = slice; r < 1; ++r"},
    {"OneJTooFewStaged", "k < count; k += NBCC_THREADS", "k < count - 1; k += NBCC_THREADS"},
    {"CountOfTheLastTileTooLarge", "lesser(a.nj - tile * NBCC_J_TILE, (index)NBCC_J_TILE)",
     "lesser(a.nj - tile * NBCC_J_TILE + 1, (index)NBCC_J_TILE)"},
    {"OneTileTooFew", "(a.nj + NBCC_J_TILE - 1) / NBCC_J_TILE", "a.nj / NBCC_J_TILE"},
    {"JOfTheThreadAndNotOfTheTile", "const index j = first_j + k;", "const index j = a.j_begin + k;"},
    {"JOfTheWrongThread", "const index j = first_j + k;", "const index j = first_j + threadIdx.x;"},
    {"TileOfI", "const index j = first_j + k;", "const index j = first_i + k;"},
    {"BlocksOfIOverlap", "(index)blockIdx.x * kBlockI", "(index)blockIdx.x * kSliceThreads"},
    {"SplitsOverlap", "first_tile_of(split + 1, a)", "first_tile_of(gridDim.y, a)"},
    {"LastTileForgotten", "tiles * split / gridDim.y", "(tiles - 1) * split / gridDim.y"},
    {"ArrivedIsNotReset", "if (last) *arrived = 0;", ""},
    {"TheLastButOneToArriveCombines", "== blocks - 1;", "== blocks - 2;"},
    {"TheFirstToArriveCombines", "if (!last_to_arrive(arrived + split, count)) return false;",
     "if (blockIdx.y > 0) return false;"},
    {"LastSplitForgotten", "count * (slice + 1) / NBCC_J_SLICES", "(count - 1) * (slice + 1) / NBCC_J_SLICES"},
    {"FirstSplitForgotten", "first + count * slice / NBCC_J_SLICES", "first + 1 + count * slice / NBCC_J_SLICES"},
    {"EveryLoadOfTheFirstSplit", "(s + k) * stride", "s * stride"},
    {"NoBarrierAfterSplitsAreCombined", "    __syncthreads();\n  }\n  return true;", "  }\n  return true;"},
    {"ChunksBegunAnew", "if (!a.first) {", "if (false) {"},
    {"ResultsAtWrongIndices", "const index at = first_i + r * kSliceThreads;", "const index at = first_i + r;"},
    {"OneIndexTooMany", "if (at < a.ni)", "if (at <= a.ni)"},
};

class CudaMistake : public testing::TestWithParam<Mistake> {};

KernelSource with_mistake(KernelSource source, const Mistake& mistake) {
  source.first().source = without_exclusions(source.first().source);
  const std::size_t at = source.first().source.find(mistake.right);
  EXPECT_NE(at, std::string::npos) << "the text has no such line any more";
  if (at != std::string::npos) source.first().source.replace(at, std::strlen(mistake.right), mistake.wrong);
  return source;
}

// What any of the cases shows, the threads running in the one order or in the other.
std::string noticed(const KernelSource& source, const std::vector<Case>& cases) {
  std::string all;
  for (const ShimOrder order : {kForward, kBackward}) {
    CudaShim shim;
    set_orders(shim, order);
    {
      CudaTextRun run(shim, source, kBoth);
      all += first_failure(shim, run, cases);
    }
    shim.take_failures();
  }
  return all;
}

// In gravity, whose sums show everything but what adds nothing.
TEST_P(CudaMistake, IsNoticed) {
  const Oracle gravity("gravity");
  EXPECT_NE(noticed(with_mistake(emit(gravity.pipeline(), {}), GetParam()), cases_of(gravity, {})), "");
}

INSTANTIATE_TEST_SUITE_P(Text, CudaMistake,
                         testing::ValuesIn(sampled(std::vector(std::begin(kMistakes), std::end(kMistakes)), 4)),
                         [](const testing::TestParamInfo<Mistake>& info) { return info.param.what; });

constexpr Mistake kCutoffMistakes[] = {
    {"OldOnesBehindTheEndAreHits", " & in_range;", ";"},
    {"OneOfTheGroupForgotten", "~0u << (32 - lesser", "~1u << (32 - lesser"},
    {"BitsOneOff", "reject_mask[r] << (32 - kGroup)", "reject_mask[r] << (31 - kGroup)"},
    {"HitsAreMisses", "unsigned hits = ~(", "unsigned hits = ("},
    {"OneHitOnly", "hits ^= 0x80000000u >> member;", "hits = 0;"},
    {"ColdDataOfTheWrongI", "mine = cold[row + r * kSliceThreads];", "mine = cold[row];"},
    {"ColdDataOfOneI", "if (slice == 0) cold[", "if (slice == 0 && r == 0) cold["},
    {"GroupsAreStoredWhereSplitsWere", "stride *= kSplitGroup", "stride *= 1"},
    {"GroupsOverlap", "first = split * kSplitGroup", "first = split"},
    {"LastGroupTakenForFull", "lesser(kSplitGroup, splits - first) : splits", "lesser(kSplitGroup, splits) : splits"},
    {"GroupsCountWhereTheirSplitsDid", "arrived += splits;", ""},
    {"LastGroupForgotten", "(splits + kSplitGroup - 1) / kSplitGroup", "splits / kSplitGroup"},
    {"TwoBlocksTakeOneSplit", "(blockIdx.y % 2 ? gridDim.y - step : step)", "step"},
};

class CudaCutoffMistake : public testing::TestWithParam<Mistake> {};

// In SPH, where a hit needs more of both particles than the looking does.
TEST_P(CudaCutoffMistake, IsNoticed) {
  const Oracle sph("sph_force");
  EXPECT_NE(noticed(with_mistake(emit(sph.pipeline(), {}), GetParam()), cases_of(sph, {})), "");
}

INSTANTIATE_TEST_SUITE_P(Text, CudaCutoffMistake,
                         testing::ValuesIn(sampled(std::vector(std::begin(kCutoffMistakes), std::end(kCutoffMistakes)),
                                                   4)),
                         [](const testing::TestParamInfo<Mistake>& info) { return info.param.what; });

// ---- a particle and itself
// --------------------------------------------------------------------------------------------

constexpr Mistake kSelfMistakes[] = {
    {"NobodyLooks", "any |= self[r] >= 0;", ""},
    {"NoBarrierAfterStaging", "__syncthreads_or(find_self(a, first_i, first_j, self))",
     "find_self(a, first_i, first_j, self) || true"},
    {"LoopsExchanged", "|| tile_holds_self)", "|| !tile_holds_self)"},
};

class CudaSelfMistake : public testing::TestWithParam<Mistake> {};

TEST_P(CudaSelfMistake, IsNoticed) {
  const Oracle nearest("nearest_neighbour");
  const std::vector<Case> cases = cases_of(nearest, {});
  const KernelSource source = emit(nearest.pipeline(), {});
  EXPECT_EQ(noticed(source, cases), "");
  EXPECT_NE(noticed(with_mistake(source, GetParam()), cases), "");
}

INSTANTIATE_TEST_SUITE_P(Text, CudaSelfMistake,
                         testing::ValuesIn(sampled(std::vector(std::begin(kSelfMistakes), std::end(kSelfMistakes)), 3)),
                         [](const testing::TestParamInfo<Mistake>& info) { return info.param.what; });

// ---- where two zeros meet
// --------------------------------------------------------------------------------------------

// The test for coincident particles looks at bits, and -0 has other bits than 0.
TEST(CudaZeros, ParticlesAtZeroOfEitherSignCoincide) {
  const Pipeline pipeline = parse({"zeros.pipe",
                                   "input_i vec3 xi; input_j vec3 xj; output(sum) real pot;\n"
                                   "vec3 d = xj - xi; real r2 = dot(d, d); skip_if(r2 == 0.0); pot += rsqrt(r2);\n"});
  const OracleInput input{2, 3, {{0, -0.0}, {-0.0, 0}, {0, 0}}, {{-0.0, 0, 4}, {0, -0.0, 0}, {0, 0, 0}}, {}};
  for (const Precision precision : {Precision::Single, Precision::Mixed, Precision::Double}) {
    const Options options{precision};
    const std::vector<Case> cases{make_case(pipeline, input, options)};
    const KernelSource source = emit(pipeline, options);
    EXPECT_EQ(noticed(source, cases), "") << name(precision);
    if (precision == Precision::Mixed) continue;  // there lower parts make it 0
    const Mistake mistake{"", "other.c0 += 0;", ""};
    EXPECT_NE(noticed(with_mistake(source, mistake), cases), "") << name(precision);
  }
}

}  // namespace
}  // namespace nbcc::test
