// Numbers of particles -> the launch configurations that were measured to be fastest for them, read from disk and
// written to it. Interface: CudaTunings. Measures nothing, and does not know whether a configuration can be compiled.
//
// There is one file for each pipeline, kind of GPU and kernel source. It is text, so that users can read it and delete
// lines:
//
//   nbcc tunings 1
//   pipeline gravity
//   gpu NVIDIA H200, 132 multiprocessors
//   text 6f0c1c5d2a9e4b7788f0d3c2b1a09e5f gravity, single precision, fast math
//   ni 11 nj 11 threads 128 i_per_thread 1 j_tile 128 unroll 16 j_slices 1 j_splits 8 rate 5.11e+11 model 4.29e+11
//
// The fourth line has a hash of the kernel source, and for readers the kernel's name and options. A file with other
// first four lines is not used, and is replaced when the next measurement is stored. In the other lines `ni 11` stands
// for 2^11 to 2^12 - 1 i-particles; `rate` and `model` are the measured and the predicted pairs per second. A line of
// another form is ignored, and lost when the file is written again.
#include "runtime/cuda/program/cuda_tunings.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <utility>

#include "fmt/format.h"
#include "runtime/cache/own_folder.h"

namespace nbcc {
namespace {

constexpr std::string_view kFirstLine = "nbcc tunings 1";
constexpr std::string_view kSuffix = ".tuning";
// A file with every size class from 1 to 2^40 has less than 200 kB.
constexpr std::size_t kMaxFileBytes = std::size_t(1) << 20;
constexpr auto kWaitForWriter = std::chrono::seconds(2);

std::string one_line(std::string text) {
  std::ranges::replace_if(text, [](unsigned char c) { return c < ' '; }, ' ');
  return text;
}

// The first line of a kernel source, without "// ": "gravity, single precision, fast math".
std::string first_line(const std::string& text) {
  std::string line = text.substr(0, std::min(text.find('\n'), std::size_t(200)));
  if (line.starts_with("// ")) line.erase(0, 3);
  return one_line(line);
}

std::string fingerprint(const std::string& text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string pipeline_line(const CudaTuningSubject& subject) { return one_line("pipeline " + subject.pipeline); }
std::string gpu_line(const CudaTuningSubject& subject) {
  return one_line(fmt::format("gpu {}, {} multiprocessors", subject.model, subject.multiprocessors));
}

std::string file_name(const CudaTuningSubject& subject) {
  std::string readable = subject.pipeline.substr(0, 60) + "-" + subject.model.substr(0, 60);
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  };
  std::ranges::replace_if(readable, [&](char c) { return !is_plain(c); }, '_');
  const std::string whole = pipeline_line(subject) + "\n" + gpu_line(subject) + "\n" + fingerprint(subject.text);
  return readable + "-" + fingerprint(whole).substr(0, 16) + std::string(kSuffix);
}

// Returns the text up to the next `end`, and removes both from `text`.
std::string_view take_until(std::string_view& text, char end) {
  const std::string_view taken = text.substr(0, text.find(end));
  text.remove_prefix(std::min(text.size(), taken.size() + 1));
  return taken;
}

template <typename T>
bool take_number(std::string_view& line, std::string_view word, T least, T most, T& number) {
  if (take_until(line, ' ') != word) return false;
  const std::string_view digits = take_until(line, ' ');
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() && number >= least && number <= most;
}

bool read_choice(std::string_view line, CudaTuningTable& table) {
  CudaSizeClass size;
  CudaTuned tuned;
  if (!take_number(line, "ni", 0, 62, size.i) || !take_number(line, "nj", 0, 62, size.j)) return false;
  for (const auto& [name, member, most] : kLaunchNumbers)
    if (!take_number(line, name, 0, most, tuned.config.*member)) return false;
  if (!take_number(line, "rate", 0.0, 1e30, tuned.rate) || !take_number(line, "model", 0.0, 1e30, tuned.model_rate)) {
    return false;
  }
  if (!line.empty()) return false;
  table.set(size, tuned);
  return true;
}

std::string choice_line(CudaSizeClass size, const CudaTuned& tuned) {
  std::string line = fmt::format("ni {} nj {}", size.i, size.j);
  for (const LaunchNumber& number : kLaunchNumbers)
    line += fmt::format(" {} {}", number.name, tuned.config.*number.member);
  return line + fmt::format(" rate {:.4g} model {:.4g}\n", tuned.rate, tuned.model_rate);
}

struct Content {
  std::string pipeline_line, gpu_line, fingerprint, kernel;
  CudaTuningTable table;
};

std::optional<Content> parse_file(std::string_view bytes) {
  Content content;
  if (take_until(bytes, '\n') != kFirstLine) return {};
  content.pipeline_line = take_until(bytes, '\n');
  content.gpu_line = take_until(bytes, '\n');
  std::string_view text = take_until(bytes, '\n');
  if (take_until(text, ' ') != "text") return {};
  content.fingerprint = take_until(text, ' ');
  content.kernel = text;
  while (!bytes.empty()) read_choice(take_until(bytes, '\n'), content.table);
  return content;
}

std::optional<Content> read_file(const OwnFolder& folder, const std::string& name, OwnFolder::Status& status) {
  const OwnFile file = folder.open_file(name, status);
  if (!file || status.bytes > kMaxFileBytes) return {};
  const std::optional<std::string> bytes = file.read(status.bytes);
  return bytes ? parse_file(*bytes) : std::nullopt;
}

CudaTuningTable read_table(const OwnFolder& folder, const CudaTuningSubject& subject) {
  OwnFolder::Status status;
  std::optional<Content> content = read_file(folder, file_name(subject), status);
  // Compare all keys, because files may have been renamed.
  const bool same = content && content->pipeline_line == pipeline_line(subject) &&
                    content->gpu_line == gpu_line(subject) && content->fingerprint == fingerprint(subject.text);
  return same ? std::move(content->table) : CudaTuningTable();
}

// Processes that write at the same time must not lose each other's size classes. Without the lock the last one wins.
void wait_for(OwnLock& lock) {
  const auto deadline = std::chrono::steady_clock::now() + kWaitForWriter;
  while (lock.try_take() == OwnLock::State::Busy && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string without_word(const std::string& line) { return line.substr(std::min(line.size(), line.find(' ') + 1)); }

}  // namespace

CudaSizeClass size_class(std::int64_t ni, std::int64_t nj) {
  const auto one = [](std::int64_t n) { return std::bit_width(std::uint64_t(std::max<std::int64_t>(n, 1))) - 1; };
  return {int(one(ni)), int(one(nj))};
}

const CudaTuned* CudaTuningTable::measured(CudaSizeClass size) const {
  const auto found = choices_.find(size);
  return found == choices_.end() ? nullptr : &found->second;
}

std::optional<LaunchConfig> CudaTuningTable::find(std::int64_t ni, std::int64_t nj) const {
  if (choices_.empty()) return {};
  const CudaSizeClass size = size_class(ni, nj);
  if (const CudaTuned* tuned = measured(size)) return tuned->config;
  // Classes that differ in one of the two numbers are preferred; among equally near classes, the smaller.
  const CudaTuned* nearest = nullptr;
  int least = 3;
  for (int i = -1; i <= 1; ++i) {
    for (int j = -1; j <= 1; ++j) {
      const CudaTuned* const tuned = measured({size.i + i, size.j + j});
      if (!tuned || std::abs(i) + std::abs(j) >= least) continue;
      nearest = tuned;
      least = std::abs(i) + std::abs(j);
    }
  }
  if (!nearest) return {};
  return nearest->config.compiled();
}

CudaTunings::CudaTunings(const std::string& cache_folder)
    : folder_(cache_folder.empty() ? "" : cache_folder + "/tunings") {}

CudaTuningTable CudaTunings::read(const CudaTuningSubject& subject) const {
  return quietly([&] { return read_table(OwnFolder::open(folder_, kSuffix), subject); });
}

bool CudaTunings::store(const CudaTuningSubject& subject, CudaSizeClass size, const CudaTuned& tuned) const {
  return quietly([&] {
    const OwnFolder folder = OwnFolder::make(folder_, kSuffix);
    if (!folder) return false;
    OwnLock lock(folder, file_name(subject));
    wait_for(lock);
    CudaTuningTable table = read_table(folder, subject);
    table.set(size, tuned);
    std::string bytes = fmt::format("{}\n{}\n{}\ntext {} {}\n", kFirstLine, pipeline_line(subject), gpu_line(subject),
                                    fingerprint(subject.text), first_line(subject.text));
    for (const auto& [each, choice] : table.all()) bytes += choice_line(each, choice);
    return folder.replace(file_name(subject), {bytes});
  });
}

std::vector<CudaTunings::Entry> CudaTunings::list() const {
  return quietly([&] {
    std::vector<Entry> entries;
    const OwnFolder folder = OwnFolder::open(folder_, kSuffix);
    for (const std::string& name : folder.entries()) {
      OwnFolder::Status status;
      std::optional<Content> content = read_file(folder, name, status);
      if (!content) continue;
      entries.push_back({name, without_word(content->pipeline_line), without_word(content->gpu_line), content->kernel,
                         status.modified, std::move(content->table)});
    }
    std::ranges::sort(entries, {}, [](const Entry& entry) { return std::pair(-entry.modified, entry.name); });
    return entries;
  });
}

int CudaTunings::clear() const {
  return quietly([&] { return OwnFolder::open(folder_, kSuffix).clear(); });
}

std::string describe(const LaunchConfig& config) {
  const std::pair<const char*, int> numbers[] = {{"{} threads", config.threads},   {"{} i", config.i_per_thread},
                                                 {"tile {}", config.j_tile},       {"unroll {}", config.unroll},
                                                 {"j_slices {}", config.j_slices}, {"j_splits {}", config.j_splits}};
  std::string text;
  for (const auto& [form, number] : numbers)
    if (number > 0) text += (text.empty() ? "" : ", ") + fmt::format(fmt::runtime(form), number);
  return text;
}

}  // namespace nbcc
