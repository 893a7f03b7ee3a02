// PipelineImage <-> bytes. Doors: write_image(), read_image(). Both walk the same list of members (members_of), so that
// what is written is what is read; numbers are little-endian. A checksum stands before them, since what they say (a
// column's component, the lanes of a vector) is believed by all that runs the kernels. Runs nothing and knows no files.
#include "runtime/image/image.h"

#include <xxhash.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "fmt/format.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

constexpr std::string_view kMagic = "nbcc pipeline\n";
// Goes up with every change of members_of() and of what they mean, and of what kernels take for granted
// (kernel_source.h, cuda_arguments.h).
constexpr std::uint32_t kVersion = 5;

class Writer {
 public:
  std::string bytes;

  template <typename T>
  void number(const T& value) {
    auto bits = std::bit_cast<Bits<T>>(value);
    for (std::size_t k = 0; k < sizeof(T); ++k) bytes += char(bits & 0xff), bits = Bits<T>(bits >> 7 >> 1);
  }
  void text(const std::string& value) {
    number(std::uint64_t(value.size()));
    bytes += value;
  }
  template <typename T, typename Each>
  void list(const std::vector<T>& values, Each each) {
    number(std::uint64_t(values.size()));
    for (const T& value : values) each(value);
  }

 private:
  template <typename T>
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint8_t>>;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  void number(T& value) {
    Bits<T> bits = 0;
    const std::string_view raw = take(sizeof(T));
    for (std::size_t k = sizeof(T); k-- > 0;) bits = Bits<T>(Bits<T>(bits << 7 << 1) | std::uint8_t(raw[k]));
    value = std::bit_cast<T>(bits);
  }
  void text(std::string& value) { value = take(size()); }
  // One after the other, so that a wrong number of them asks for no more memory than the bytes can fill.
  template <typename T, typename Each>
  void list(std::vector<T>& values, Each each) {
    for (std::size_t rest = size(); rest > 0; --rest) each(values.emplace_back());
  }
  std::string_view take(std::size_t count) {
    if (count > rest_.size()) throw UsageError("the description of a compiled pipeline is cut off");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::string_view rest() const { return rest_; }

 private:
  template <typename T>
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint8_t>>;
  // Of something whose every element takes a byte at least.
  std::size_t size() {
    std::uint64_t count = 0;
    number(count);
    if (count > rest_.size()) throw UsageError("the description of a compiled pipeline is cut off");
    return std::size_t(count);
  }

  std::string_view rest_;
};

// Value is const when it is written and not when it is read.
template <typename Archive, typename Value>
void item(Archive& archive, Value& value);

constexpr Element last_of(Element) { return Element::Int64; }
constexpr Column::Part last_of(Column::Part) { return Column::Part::Derived; }
constexpr Role last_of(Role) { return Role::Output; }
constexpr Reduction last_of(Reduction) { return Reduction::ArgMax; }

template <typename Archive, typename Value>
void members_of(Archive& archive, Value& value)
  requires std::is_same_v<std::remove_const_t<Value>, Column>
{
  item(archive, value.component);
  item(archive, value.element);
  item(archive, value.part);
}

template <typename Archive, typename Value>
void members_of(Archive& archive, Value& value)
  requires std::is_same_v<std::remove_const_t<Value>, FieldLayout>
{
  item(archive, value.name);
  item(archive, value.role);
  item(archive, value.type);
  item(archive, value.integral);
  item(archive, value.length);
  item(archive, value.width);
  item(archive, value.first);
  item(archive, value.reduction);
  item(archive, value.defaults);
  item(archive, value.comment);
}

template <typename Archive, typename Value>
void members_of(Archive& archive, Value& value)
  requires std::is_same_v<std::remove_const_t<Value>, KernelSource>
{
  item(archive, value.pipeline);
  item(archive, value.text);
  item(archive, value.target);
  item(archive, value.lanes);
  item(archive, value.tile);
  item(archive, value.i_block);
  item(archive, value.i_columns);
  item(archive, value.j_columns);
  item(archive, value.fields);
  item(archive, value.params);
  item(archive, value.outputs);
  item(archive, value.reductions);
  item(archive, value.held_in);
  item(archive, value.has_finish);
  item(archive, value.uses_i_index);
  item(archive, value.uses_j_index);
  item(archive, value.operations);
  item(archive, value.threads);
  item(archive, value.staged_bytes);
  item(archive, value.rest_bytes);
  item(archive, value.cutoff);
  item(archive, value.pair_statements);
}

template <typename Archive, typename Value>
void members_of(Archive& archive, Value& value)
  requires std::is_same_v<std::remove_const_t<Value>, CudaImage>
{
  item(archive, value.architecture);
  item(archive, value.shape.threads);
  item(archive, value.shape.i_per_thread);
  item(archive, value.shape.j_tile);
  item(archive, value.shape.unroll);
  item(archive, value.shape.lanes);
  item(archive, value.ptx);
  item(archive, value.toolkit);
  item(archive, value.bytes);
}

template <typename Archive, typename Value>
void members_of(Archive& archive, Value& value)
  requires std::is_same_v<std::remove_const_t<Value>, PipelineImage>
{
  item(archive, value.made_by);
  item(archive, value.precision);
  item(archive, value.math);
  item(archive, value.root);
  item(archive, value.cpu);
  item(archive, value.cuda);
  item(archive, value.cuda_images);
}

template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};

template <typename Archive, typename Value>
void item(Archive& archive, Value& value) {
  using Plain = std::remove_const_t<Value>;
  if constexpr (std::is_same_v<Plain, bool>) {
    std::uint8_t number = value ? 1 : 0;
    archive.number(number);
    if constexpr (!std::is_const_v<Value>) value = number != 0;
  } else if constexpr (std::is_enum_v<Plain>) {
    auto number = std::uint8_t(value);
    archive.number(number);
    if (number > std::uint8_t(last_of(Plain{}))) {
      throw UsageError("the description of a compiled pipeline has an unknown number in it");
    }
    if constexpr (!std::is_const_v<Value>) value = Plain(number);
  } else if constexpr (std::is_arithmetic_v<Plain>) {
    archive.number(value);
  } else if constexpr (std::is_same_v<Plain, std::string>) {
    archive.text(value);
  } else if constexpr (IsVector<Plain>::value) {
    archive.list(value, [&](auto& one) { item(archive, one); });
  } else {
    members_of(archive, value);
  }
}

std::uint64_t checksum(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace

std::string write_image(const PipelineImage& image) {
  Writer head, body;
  item(body, image);
  head.bytes = kMagic;
  head.number(kVersion);
  head.number(checksum(body.bytes));
  return head.bytes + body.bytes;
}

PipelineImage read_image(std::string_view bytes) {
  Reader reader(bytes);
  if (!bytes.starts_with(kMagic)) throw UsageError("this is no description of a compiled pipeline");
  reader.take(kMagic.size());
  std::uint32_t version = 0;
  reader.number(version);
  if (version != kVersion) {
    throw UsageError(fmt::format("the pipeline was compiled by {} nbcc: its description has form {}, this one reads {}",
                                 version > kVersion ? "a newer" : "an older", version, kVersion));
  }
  std::uint64_t expected = 0;
  reader.number(expected);
  if (checksum(reader.rest()) != expected) {
    throw UsageError("the description of a compiled pipeline is damaged or cut off");
  }
  PipelineImage image;
  item(reader, image);
  if (!reader.rest().empty()) throw UsageError("the description of a compiled pipeline has something behind its end");
  return image;
}

}  // namespace nbcc
