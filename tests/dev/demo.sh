#!/usr/bin/env bash
# demo.sh SOURCE_FOLDER: `./dev demo` builds the command and the program of the collision alone, and tells of its progress where nobody sits at a terminal.
# What it calls (dpkg-query, cmake, the demonstration) is replaced by what writes down how it was called.
set -euo pipefail
source=$1
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
fail() { echo "FAILED: $*"; cat said; exit 1; }

mkdir bin examples
cp "$source/dev" .
echo 'echo "the demonstration of $1 and $2 in $3"' >examples/demo.sh
echo 'echo install ok installed' >bin/dpkg-query
# 40 steps, of which every one takes a second.
cat >bin/cmake <<'END'
echo "$*" >>called
[ "$1" = --build ] || exit 0
for k in $(seq 40); do
  status=${NINJA_STATUS//%f/$k}; status=${status//%t/40}; status=${status//%e/$k.25}
  echo "${status}Building CXX object part_$k.o"
done
echo "${BROKEN:-}"
[ -z "${BROKEN:-}" ]
END
sed -i '1i #!/usr/bin/env bash' bin/*
chmod +x bin/*
export PATH=$PWD/bin:$PATH

./dev demo >shown 2>said </dev/null || fail "status $?"
grep -q -- '--build build .*--target nbcc example_nbody$' called || fail "other targets than these two are built: $(cat called)"
[ "$(cat shown)" = 'the demonstration of build/bin/nbcc and build/bin/examples/nbody in build/demo' ] || fail "standard output: $(cat shown)"
grep -q '^  1 of 40 steps' said && grep -q '^  40 of 40 steps' said || fail "no progress is told"
grep -q '^the build took [0-9]* s, [0-9]* s of CPU time' said || fail "the time of the build is missing"
[ "$(grep -c ' of 40 steps' said)" -le 6 ] || fail "every step is told"

if BROKEN='part_7.cpp:1:1: error: expected' ./dev demo >shown 2>said </dev/null; then fail "a build that fails is used"; fi
grep -q 'part_7.cpp:1:1: error' said || fail "what is wrong is not shown"
[ -s shown ] && fail "the demonstration runs without what it needs"

./dev build >shown 2>said </dev/null || fail "status $?"
tail -1 called | grep -q -- '--target' && fail "./dev build builds a part"
echo "all is well"
