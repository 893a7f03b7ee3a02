// A variable of the environment for as long as this lives; then it is what it was, so that the tests can be run with
// $NBCC_DEVICE as well.
#pragma once
#include <cstdlib>
#include <optional>
#include <string>

namespace nbcc::test {

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  ~Variable() {
    if (before_)
      setenv(name_, before_->c_str(), 1);
    else
      unsetenv(name_);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace nbcc::test
