// CoeffRecord -> bytes -> CoeffRecord. Reads and writes no file.
#include "bindings/lammps/plugin/coeff_record.h"

#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace nbcc_lammps {
namespace {

const std::string kFormat = "pair_style nbcc, restart format 1";

void put(std::string& bytes, std::uint64_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}
void put(std::string& bytes, const std::string& text) {
  put(bytes, std::uint64_t(text.size()));
  bytes += text;
}
void put(std::string& bytes, const std::vector<std::string>& words) {
  put(bytes, std::uint64_t(words.size()));
  for (const std::string& word : words) put(bytes, word);
}

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}
  // No number in a record is larger than the record.
  std::size_t number() {
    std::uint64_t number = 0;
    std::memcpy(&number, take(sizeof number), sizeof number);
    if (number > bytes_.size()) fail();
    return std::size_t(number);
  }
  std::string text() {
    const std::size_t size = number();
    return {take(size), size};
  }
  std::vector<std::string> words() {
    std::vector<std::string> all(number());
    for (std::string& one : all) one = text();
    return all;
  }

 private:
  const char* take(std::size_t size) {
    if (size > bytes_.size() - at_) fail();
    at_ += size;
    return bytes_.data() + at_ - size;
  }
  [[noreturn]] static void fail() {
    throw std::runtime_error("the restart file has no data of '" + kFormat + "': was it written by another version?");
  }
  const std::string& bytes_;
  std::size_t at_ = 0;
};

}  // namespace

std::string bytes_of(const CoeffRecord& record) {
  std::string bytes;
  put(bytes, kFormat);
  put(bytes, record.settings);
  put(bytes, record.path);
  put(bytes, record.text);
  put(bytes, std::uint64_t(record.coeffs.size()));
  for (const std::vector<std::string>& words : record.coeffs) put(bytes, words);
  put(bytes, std::uint64_t(record.mix));
  return bytes;
}

CoeffRecord record_of(const std::string& bytes) {
  Reader reader(bytes);
  if (reader.text() != kFormat)
    throw std::runtime_error("the restart file has no data of '" + kFormat + "': was it written by another version?");
  CoeffRecord record;
  record.settings = reader.words();
  record.path = reader.text();
  record.text = reader.text();
  record.coeffs.resize(reader.number());
  for (std::vector<std::string>& words : record.coeffs) words = reader.words();
  record.mix = reader.number();
  return record;
}

}  // namespace nbcc_lammps
