// Bytes -> the digits of their SHA-256, which LLVM computes. Entry point: sha256().
#include "compiler/text/sha256.h"

#include <fmt/format.h>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SHA256.h"

namespace nbcc {

std::string sha256(std::string_view bytes) {
  const llvm::StringRef text(bytes.data(), bytes.size());
  const auto digest = llvm::SHA256::hash(llvm::ArrayRef<std::uint8_t>(text.bytes_begin(), text.size()));
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace nbcc
