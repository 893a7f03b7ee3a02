// Values of params -> bytes of tables. One door: Tables.
#include "runtime/sum/tables.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "compiler/table.h"

namespace nbcc {
namespace {

template <typename T>
void store(std::span<const double> values, std::byte* at) {
  for (const double value : values) {
    const T number = T(value);
    std::memcpy(at, &number, sizeof number);
    at += sizeof number;
  }
}

void store(const PlacedTable& table, std::span<const double> params, std::byte* at) {
  const std::vector<double> values = table_values(table, params);
  switch (table.element) {
    case Element::Float:
      return store<float>(values, at);
    case Element::Double:
      return store<double>(values, at);
    case Element::Int32:
      return store<std::int32_t>(values, at);
    case Element::Int64:
      return store<std::int64_t>(values, at);
  }
}

std::int64_t next_number() {
  static std::atomic<std::int64_t> last = 0;
  return ++last;
}

}  // namespace

Tables::Tables(const KernelSource& source, std::span<const double> params) : number(next_number()) {
  std::int64_t size = 0;
  for (const PlacedTable& table : source.tables)
    size = std::max(size, table.offset + table.count * size_of(table.element));
  bytes.resize(std::size_t(size + kTablePadding));
  for (const PlacedTable& table : source.tables) store(table, params, bytes.data() + table.offset);
}

}  // namespace nbcc
