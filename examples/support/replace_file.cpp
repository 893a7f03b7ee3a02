// A name -> a file that takes its place in one step. Its entry points are replace_file() and require_place_for().
#include "examples/support/replace_file.h"

#include <filesystem>
#include <fstream>
#include <system_error>

#include "examples/support/failure.h"

namespace examples {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const std::error_code& error) {
  throw UsageError("cannot write '" + path + "'" + (error ? ": " + error.message() : ""));
}

// Where the file itself stands if `path` is a link to it.
fs::path target_of(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::weakly_canonical(path, error);
  if (error) fail(path, error);
  if (fs::is_directory(target, error)) fail(path, std::make_error_code(std::errc::is_a_directory));
  return target;
}

bool is_replaced(const fs::path& target) {
  std::error_code ignored;
  return !fs::exists(target, ignored) || fs::is_regular_file(target, ignored);
}

// Removes the draft unless it has become the file.
class Draft {
 public:
  explicit Draft(const fs::path& target) : path_(target.string() + ".new") {}
  ~Draft() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

void replace_file(const std::string& path, const std::function<void(const std::string& draft)>& write) {
  const fs::path target = target_of(path);
  if (!is_replaced(target)) return write(target.string());
  const Draft draft(target);
  write(draft.path());
  std::error_code error;
  if (!fs::exists(draft.path(), error)) return;
  fs::rename(draft.path(), target, error);
  if (error) fail(path, error);
}

void require_place_for(const std::string& path) {
  const fs::path target = target_of(path);
  if (!is_replaced(target)) return;
  const Draft draft(target);
  std::ofstream out(draft.path());
  if (!out) fail(path, {});
}

}  // namespace examples
