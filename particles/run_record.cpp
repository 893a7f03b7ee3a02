// Finds the lines of a file that an earlier run wrote. Entry points: lines_of_record(), is_key_beside_hash(). Knows no
// file formats.
#include "particles/run_record.h"

#include <algorithm>
#include <set>
#include <string>

namespace nbcc {
namespace {

constexpr std::string_view kHash = "pipeline sha256";

bool is_hash(std::string_view line) {
  return line.starts_with(std::string(kHash) + ": ") && line.size() == kHash.size() + 2 + 64 &&
         line.find_first_not_of("0123456789abcdef", kHash.size() + 2) == std::string_view::npos;
}

// The keys that may follow "made by", "command" and "pipeline" in the record of a run.
std::set<std::string, std::less<>> keys_of_record(const ParticleTable& results, bool has_hash) {
  std::set<std::string, std::less<>> keys = {"device", "arithmetic"};
  for (const auto& [key, value] : results.attributes) keys.insert(key);
  for (const char* once : {"made by", "command", "pipeline"}) keys.erase(once);
  // A line of the user's behind an old record may have such a key.
  if (!has_hash) std::erase_if(keys, is_key_beside_hash);
  for (const ParticleColumn& output : results.columns) {
    keys.insert("total " + output.name);
    for (int c = 0; c < output.components; ++c) keys.insert("total " + output.name + " " + std::to_string(c));
  }
  return keys;
}

}  // namespace

bool is_key_beside_hash(std::string_view key) {
  return key == kHash || key == "instruction set" || key == "precision" || key == "method";
}

LineRange lines_of_record(const std::vector<std::string_view>& lines, const ParticleTable& results) {
  const std::string* const pipeline = results.find_attribute("pipeline");
  const std::string wanted = "pipeline: " + (pipeline ? *pipeline : "");
  for (std::size_t k = 0; k + 2 < lines.size(); ++k) {
    if (!lines[k].starts_with("made by: nbcc ") || !lines[k + 1].starts_with("command: ") || lines[k + 2] != wanted)
      continue;
    const bool has_hash = k + 3 < lines.size() && is_hash(lines[k + 3]);
    std::set<std::string, std::less<>> open = keys_of_record(results, has_hash);
    LineRange range{k, k + 3};
    for (; range.last < lines.size(); ++range.last) {
      const std::string_view line = lines[range.last];
      const auto key = open.find(line.substr(0, std::min(line.find(": "), line.size())));
      if (key == open.end()) break;
      open.erase(key);  // a second line with this key was not written by nbcc
    }
    return range;
  }
  return {};
}

}  // namespace nbcc
