# Sourced by the scripts beside it: $python becomes an interpreter that can import all of "$@"; none: skipped, 77.
find_python() {
  local candidate
  for candidate in "${PYTHON:-python3}" python3 /usr/bin/python3; do
    if "$candidate" -c "import $(IFS=,; echo "$*")" 2>/dev/null; then
      python=$candidate
      return
    fi
  done
  echo "no python3 here has $*: skipped (./dev setup installs them)"
  exit 77
}
# The same for a library of a build, LIBRARY MODULE...: the build's own interpreter, which has vesin too, comes first.
find_python_of_build() {
  local made
  made=$(dirname "$1")/../test-python/bin/python
  [ -n "${PYTHON:-}" ] || [ ! -x "$made" ] || PYTHON=$made
  find_python "${@:2}"
}
