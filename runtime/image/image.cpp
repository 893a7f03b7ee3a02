// PipelineImage <-> bytes: a magic word, the format version, a checksum, and CBOR. The checksum is needed because the
// runtime does not validate the contents, such as column components and vector lanes. Interface: write_image(),
// read_image(). Runs nothing and opens no files.
#include "runtime/image/image.h"

#include <xxhash.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "fmt/format.h"
#include "runtime/error.h"

namespace nbcc {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Column, component, element, part)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FieldLayout, name, role, type, width, is_complex, length, columns, kind, first,
                                   reduction, terms, follows, defaults, comment)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PlacedTable, first, stride, count, columns, power, element, offset, step, row_step)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(IndexCheck::Part, range, text)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(IndexCheck, index, table, dimension, count, line, uses_params, parts)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(UncheckedIndex, index, table, reason, line, column)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(IndexChecks, ranges, columns, checks, unchecked)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LaunchConfig, threads, i_per_thread, j_tile, unroll, j_slices, j_splits)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Formula::Step, op, component, constant, args, count, stride)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Formula, steps)
}  // namespace nbcc

namespace nlohmann {
template <typename T>
struct adl_serializer<std::optional<T>> {
  static void to_json(json& j, const std::optional<T>& value) { j = value ? json(*value) : json(nullptr); }
  static void from_json(const json& j, std::optional<T>& value) {
    value = j.is_null() ? std::nullopt : std::optional<T>(j.get<T>());
  }
};
template <typename T>
struct adl_serializer<std::shared_ptr<const T>> {
  static void to_json(json& j, const std::shared_ptr<const T>& value) { j = value ? json(*value) : json(nullptr); }
  static void from_json(const json& j, std::shared_ptr<const T>& value) {
    value = j.is_null() ? nullptr : std::make_shared<const T>(j.get<T>());
  }
};
}  // namespace nlohmann

namespace nbcc {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SearchLayout, bound, obstacle, axes, periodic, triclinic, reach, strict, mirrored,
                                   reach_uniform, reach_of_i, reach_of_j, written, written_uniform, written_of_i,
                                   written_of_j, lengths, cell, j_positions)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HistogramLayout, field, elements, element, words, digit, of_i, most_terms)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CopiesLayout, obstacle, of_i, of_j, periods, units)
// `values` is a stored row.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CallersView, fields, copies, has_pair_values)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelVariant, frame, source, launches, packed_bytes, most_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AccumulatorLayout, reduction, reference, type)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelSource::Columns, i, j, of_pair)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelSource::Uses, i_index, j_index, minimum_images)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelSource::PackedVectors, per_block, value_bytes, row_bytes, facts_bytes,
                                   shared_bytes, least_architecture)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelSource::OnGpu, argument_in_memory, cutoff, shifts_packed, statements, doubles)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelSource, pipeline, variants, index_checks, target, lanes, tile, i_block,
                                   columns, fields, params, outputs, accumulators, has_finish, table_params, tables,
                                   uses, search, operations, histograms, callers, first_reaction, packed_vectors,
                                   on_gpu)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CudaImage, architecture, config, ptx, text, toolkit, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FieldBinding, from, caller)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FarPart, output, factor, sum)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Centre, param, of_j, of_i, first, count, first_of_i)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StoredKernel, name, source, bind)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StoredFacts, axes, has_symmetric, cost, partners, text, precision, raised, weights,
                                   weight_names, factors, sums, both_sides, needs_one_set, parts, periods, centres,
                                   has_wide_loops, two_passes, no_matrix_kernels, product_centres)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StoredRow, target, of, name, precision, obstacle, kernels, facts)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TextFacts, index_guard, index_use, is_read, digest)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PipelineImage, made_by, precision, math, root, cpu, cuda, cuda_images, rows, facts)

namespace {

constexpr std::string_view kMagic = "nbcc pipeline\n";
// The format version. Increment it when the member lists above or their meaning change, and when the interface of
// kernels changes (kernel_source.h, cuda_arguments.h).
constexpr std::uint32_t kVersion = 32;

static_assert(std::endian::native == std::endian::little);

template <typename T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

template <typename T>
T take(std::string_view& bytes) {
  T value;
  if (bytes.size() < sizeof value) throw UsageError("the description of a compiled pipeline is cut off");
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
  return value;
}

std::uint64_t checksum(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace

std::uint64_t source_hash(std::string_view text) { return checksum(text); }

std::string write_image(const PipelineImage& image) {
  std::string body;
  nlohmann::json::to_cbor(image, body);
  return std::string(kMagic) + bytes_of(kVersion) + bytes_of(checksum(body)) + body;
}

PipelineImage read_image(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) throw UsageError("this is no description of a compiled pipeline");
  bytes.remove_prefix(kMagic.size());
  const auto version = take<std::uint32_t>(bytes);
  if (version != kVersion) {
    throw UsageError(fmt::format("the pipeline was compiled by {} nbcc: its description has form {}, this one reads {}",
                                 version > kVersion ? "a newer" : "an older", version, kVersion));
  }
  if (take<std::uint64_t>(bytes) != checksum(bytes))
    throw UsageError("the description of a compiled pipeline is damaged or cut off");
  try {
    return nlohmann::json::from_cbor(bytes).get<PipelineImage>();
  } catch (const nlohmann::json::exception& e) {
    throw UsageError(fmt::format("the description of a compiled pipeline is not what nbcc writes: {}", e.what()));
  }
}

}  // namespace nbcc
