// Compares the header of a snapshot to the columns of a particle type. Entry point: take_snapshot_header().
#include "particles/files/hdf5/hdf5_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "particles/file_error.h"
#include "particles/files/hdf5/hdf5_objects.h"
#include "particles/text_words.h"

namespace nbcc {
namespace {

// The numbers of an attribute; empty if it does not exist or is not a short list of numbers.
std::vector<double> numbers_of_attribute(hid_t group, const char* key) {
  if (H5Aexists(group, key) <= 0) return {};
  const Handle attribute(H5Aopen(group, key, H5P_DEFAULT), H5Aclose);
  if (!attribute.valid()) return {};
  const Handle space(H5Aget_space(attribute), H5Sclose);
  const Handle type(H5Aget_type(attribute), H5Tclose);
  constexpr hssize_t max_count = 64;
  const hssize_t count = space.valid() ? H5Sget_simple_extent_npoints(space) : 0;
  ElementType element;
  if (!type.valid() || count < 1 || count > max_count || !type_fault(type, element).empty()) return {};
  std::vector<double> numbers(static_cast<std::size_t>(count));
  if (H5Aread(attribute, H5T_NATIVE_DOUBLE, numbers.data()) < 0) return {};
  return numbers;
}

// The header's counts of one particle type. A count that the header does not state is absent.
struct Counts {
  std::optional<double> here, total;  // particles in this file, in the snapshot
  std::optional<double> files;
  bool has_high_word = false;
};

std::optional<double> entry(hid_t header, const char* key, int type) {
  const std::vector<double> numbers = numbers_of_attribute(header, key);
  return std::size_t(type) < numbers.size() ? std::optional(numbers[std::size_t(type)]) : std::nullopt;
}

Counts counts_of(hid_t header, int type) {
  Counts counts{entry(header, "NumPart_ThisFile", type), entry(header, "NumPart_Total", type),
                entry(header, "NumFilesPerSnapshot", 0)};
  const double high = entry(header, "NumPart_Total_HighWord", type).value_or(0);
  counts.has_high_word = high != 0;
  if (high != 0) counts.total = counts.total.value_or(0) + high * 0x1p32;
  return counts;
}

void check_counts(const Counts& counts, int type, const std::string& path, std::int64_t rows) {
  const double here = counts.here.value_or(double(rows));
  const bool several = counts.files.value_or(2) > 1;
  const std::string keys = counts.has_high_word ? "NumPart_Total and NumPart_Total_HighWord" : "NumPart_Total";
  if (!counts.total && counts.files.value_or(1) > 1)
    throw FileError(path, fmt::format("it is one of the {} files of its snapshot (NumFilesPerSnapshot of Header); join "
                                      "them first",
                                      *counts.files));
  if (counts.total && here < *counts.total && several)
    throw FileError(
        path, fmt::format("it holds {} of the {} of PartType{} that its snapshot has in {} files ({} of Header); join "
                          "them first",
                          here, counted(std::int64_t(*counts.total), "particle"), type,
                          counts.files ? fmt::format("{}", *counts.files) : "several", keys));
  if (counts.total && here != *counts.total)
    throw FileError(path, fmt::format("it holds {} of PartType{}, but {} of Header says {}",
                                      counted(std::int64_t(here), "particle"), type, keys, *counts.total));
}

void check_rows(const Counts& counts, int type, const std::string& path, const FileColumn& column) {
  if (!counts.here || *counts.here == double(column.rows)) return;
  throw FileError(path, fmt::format("dataset '{}' of PartType{} has {}, but NumPart_ThisFile of Header says {}",
                                    column.name_in_file.empty() ? column.name : column.name_in_file, type,
                                    counted(column.rows, "row"), *counts.here));
}

// Throws FileError if a mass differs from the mass of the header by more than rounding to float.
ColumnData checked_masses(ColumnData masses, double of_header, int type, const std::string& path) {
  std::visit(
      [&](const auto& values) {
        for (std::size_t row = 0; row < values.size(); ++row)
          if (!(std::fabs(double(values[row]) - of_header) <= 1e-6 * std::fabs(of_header)))
            throw FileError(path,
                            fmt::format("PartType{} has Masses that differ from MassTable of Header: {} in row {}, "
                                        "but {}; one of them is wrong",
                                        type, values[row], row, of_header));
      },
      masses);
  return masses;
}

}  // namespace

void take_snapshot_header(hid_t file, int type, const std::string& path, const ColumnChoice& choice,
                          std::vector<FileColumn>& columns) {
  if (H5Lexists(file, "Header", H5P_DEFAULT) <= 0) return;
  const Handle header(H5Gopen2(file, "Header", H5P_DEFAULT), H5Gclose);
  if (!header.valid() || columns.empty()) return;
  const Counts counts = counts_of(header, type);
  for (const FileColumn& column : columns)
    if (column.listed && choice.takes(column.name, column.name_in_file)) check_rows(counts, type, path, column);
  check_counts(counts, type, path, columns.front().rows);
  const double mass = entry(header, "MassTable", type).value_or(0);
  if (mass == 0) return;
  const auto masses = std::ranges::find(columns, "m", &FileColumn::name);
  if (masses == columns.end()) {
    FileColumn& column = columns.emplace_back();
    column.name = "m";
    column.name_in_file = "MassTable";
    column.rows = columns.front().rows;
    column.read = [mass, rows = column.rows] { return std::vector<double>(std::size_t(rows), mass); };
  } else if (masses->name_in_file == "Masses") {
    masses->read = [read = std::move(masses->read), mass, type, path] {
      return checked_masses(read(), mass, type, path);
    };
  }
}

}  // namespace nbcc
