// Packs, converts and exchanges the j of all ranks. Entry points: GatheredJ::pack(), GatheredJ::exchange().
#include "mpi/gathered_j.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>

#include "runtime/sum/request/small_floats.h"

namespace nbcc {
namespace {

bool is_integer(nbcc_element element) { return element == NBCC_INT32 || element == NBCC_INT64; }

// The element type that holds the numbers of all ranks.
nbcc_element common_element(const std::vector<RankLayout>& layouts, std::size_t field) {
  nbcc_element common = layouts.front().elements[field];
  for (const RankLayout& layout : layouts)
    if (layout.elements[field] != common)
      common = is_integer(common) && is_integer(layout.elements[field]) ? NBCC_INT64 : NBCC_DOUBLE_ELEMENT;
  return common;
}

template <typename T>
T loaded(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

double real_at(nbcc_element element, const std::byte* at) {
  switch (element) {
    case NBCC_FLOAT:
      return double(loaded<float>(at));
    case NBCC_DOUBLE_ELEMENT:
      return loaded<double>(at);
    case NBCC_INT32:
      return double(loaded<std::int32_t>(at));
    case NBCC_INT64:
      return double(loaded<std::int64_t>(at));
    case NBCC_HALF:
      return double(float(loaded<Half>(at)));
    case NBCC_BFLOAT16:
      return double(float(loaded<BFloat16>(at)));
  }
  return 0;
}

// Converts `count` contiguous numbers to 8-byte ones.
void convert(nbcc_element from, const std::byte* numbers, std::int64_t count, nbcc_element to, std::byte* at) {
  const std::int64_t size = size_of_element(from);
  for (std::int64_t k = 0; k < count; ++k, numbers += size, at += 8) {
    if (to == NBCC_INT64) {
      const std::int64_t value = from == NBCC_INT32 ? loaded<std::int32_t>(numbers) : loaded<std::int64_t>(numbers);
      std::memcpy(at, &value, sizeof value);
    } else {
      const double value = real_at(from, numbers);
      std::memcpy(at, &value, sizeof value);
    }
  }
}

}  // namespace

void GatheredJ::pack(const std::vector<JField>& fields, const std::vector<RankLayout>& layouts, int own,
                     const std::vector<nbcc_view>& arrays) {
  rows_.clear();
  for (const RankLayout& layout : layouts) rows_.push_back(layout.nj);
  count_ = std::accumulate(rows_.begin(), rows_.end(), std::int64_t(0));
  if (count_ > std::numeric_limits<int>::max())
    throw Error(NBCC_ERROR_USAGE, "the ranks have " + std::to_string(count_) +
                                      " j together: expected at most 2147483647 in a run that needs all j at once");
  columns_.clear();
  bytes_ = 0;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const nbcc_element element = common_element(layouts, f);
    const std::int64_t row = fields[f].components * size_of_element(element);
    columns_.push_back({element, fields[f].components, bytes_, row});
    bytes_ += (count_ * row + kBlockUnitBytes - 1) / kBlockUnitBytes * kBlockUnitBytes;
  }
  host_.reserve(std::size_t(std::max<std::int64_t>(bytes_, 1)));
  if (on_gpu_) gpu_.reserve(std::size_t(std::max<std::int64_t>(bytes_, 1)));
  const std::int64_t first = std::accumulate(rows_.begin(), rows_.begin() + own, std::int64_t(0));
  const std::int64_t nj = rows_[std::size_t(own)];
  std::vector<std::byte> before;
  for (std::size_t f = 0; f < fields.size() && nj > 0; ++f) {
    const Column& column = columns_[f];
    std::byte* const to = static_cast<std::byte*>(host_.data()) + column.begin + first * column.row;
    const nbcc_element element = arrays[f].element;
    if (element == column.element) {
      pack_field(device_, fields[f], arrays[f], to);
      continue;
    }
    before.resize(std::size_t(nj * column.components * size_of_element(element)));
    pack_field(device_, fields[f], arrays[f], before.data());
    convert(element, before.data(), nj * column.components, column.element, to);
  }
}

void GatheredJ::exchange(const Ranks& ranks) {
  std::vector<int> counts, firsts;
  for (const std::int64_t rows : rows_) {
    firsts.push_back(counts.empty() ? 0 : firsts.back() + counts.back());
    counts.push_back(int(rows));
  }
  bytes_received_ = 0;
  for (const Column& column : columns_) {
    MPI_Datatype row_type = MPI_DATATYPE_NULL;
    check_mpi(MPI_Type_contiguous(int(column.row), MPI_BYTE, &row_type), "MPI_Type_contiguous");
    check_mpi(MPI_Type_commit(&row_type), "MPI_Type_commit");
    const int code =
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, static_cast<std::byte*>(host_.data()) + column.begin,
                       counts.data(), firsts.data(), row_type, ranks.comm());
    MPI_Type_free(&row_type);
    check_mpi(code, "MPI_Allgatherv");
    bytes_received_ += (count_ - rows_[std::size_t(ranks.own())]) * column.row;
  }
}

std::vector<nbcc_view> GatheredJ::views() {
  void* const data = on_gpu_ ? gpu_.data() : host_.data();
  if (on_gpu_ && bytes_ > 0)
    detail::call(nbcc_device_write, device_, data, static_cast<const void*>(host_.data()), std::size_t(bytes_));
  std::vector<nbcc_view> views;
  for (const Column& column : columns_)
    views.push_back({static_cast<std::byte*>(data) + column.begin, column.element, count_, column.row,
                     size_of_element(column.element)});
  return views;
}

}  // namespace nbcc
