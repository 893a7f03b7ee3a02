// Values of params -> bytes of tables. One door: Tables.
#include "runtime/sum/tables.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "compiler/table.h"

namespace nbcc {
namespace {

template <typename T>
void store(const PlacedTable& table, const std::vector<double>& values, std::byte* at) {
  const auto columns = std::size_t(columns_of(table));
  for (std::size_t k = 0; k < values.size(); ++k) {
    const T number = T(values[k]);
    std::memcpy(at + k / columns * std::size_t(table.row_step) + k % columns * std::size_t(table.step), &number,
                sizeof number);
  }
}

void store(const PlacedTable& table, std::span<const double> params, std::byte* at) {
  const std::vector<double> values = table_values(table, params);
  switch (table.element) {
    case Element::Float:
      return store<float>(table, values, at);
    case Element::Double:
      return store<double>(table, values, at);
    case Element::Int32:
      return store<std::int32_t>(table, values, at);
    case Element::Int64:
      return store<std::int64_t>(table, values, at);
  }
}

std::int64_t next_number() {
  static std::atomic<std::int64_t> last = 0;
  return ++last;
}

}  // namespace

Tables::Tables(const KernelSource& source, std::span<const double> params) : number(next_number()) {
  std::int64_t size = 0;
  for (const PlacedTable& table : source.tables) size = std::max(size, end_of(table));
  bytes.resize(std::size_t(size + kTablePadding));
  for (const PlacedTable& table : source.tables) store(table, params, bytes.data() + table.offset);
}

}  // namespace nbcc
