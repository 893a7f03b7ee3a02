#!/usr/bin/env bash
# Every source file is as clang-format 19 writes it. Usage: style.sh SOURCE_FOLDER
set -euo pipefail
cd "$1"
command -v clang-format-19 >/dev/null || { echo "clang-format-19 is not installed: skipped"; exit 77; }
find compiler runtime jit particles chart cli bench bindings examples tests templates \( -name '*.cpp' -o -name '*.h' -o -name '*.hpp' \) -not -path 'tests/golden/*' -print0 |
  xargs -0 clang-format-19 --dry-run --Werror
