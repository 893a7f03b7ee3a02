#!/usr/bin/env bash
# setup.sh SOURCE_FOLDER: `./dev setup` installs the packages that are missing by the system's own apt. Packages that it
# cannot install it names with their purposes, and fails; `./dev build` then goes on. Wrong words are refused before anything
# is done. No host of packages is named by any file of the repository. What `dev` calls (apt-get, apt-cache, dpkg-query,
# cmake, sudo, id) is replaced by what writes down how it was called.
set -euo pipefail
source=$1
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
fail() { echo "FAILED: $*"; cat said; exit 1; }
: >said

mkdir bin tools
cp "$source/dev" .
for tool in bash seq dirname nproc id grep sed head cat mktemp rm tee awk env; do ln -s "$(command -v $tool)" tools; done
echo 'echo "cmake $*" >>called' >bin/cmake
sed -i '1i #!/usr/bin/env bash' bin/cmake
chmod +x bin/cmake
NBCC_BUILD_DIR=$PWD/made
export NBCC_BUILD_DIR
dev() { PATH=$PWD/bin:$PWD/tools ./dev "$@" >shown 2>said </dev/null; }

if dev setup; then fail "without apt it says that all is well"; else status=$?; fi
[ $status = 3 ] || fail "status $status"
grep -q 'no apt here' said || fail "it does not say that there is no apt"
grep -q '^  particle files: libhdf5-dev$' said && grep -q '^  .* LLVM .*: llvm-19-dev libclang-19-dev clang-19$' said &&
  grep -q '^  ./dev format .*: clang-format-19 clang-tidy-19$' said || fail "the packages are not named by purpose"
[ ! -e called ] || fail "it goes on: $(cat called)"
dev build || fail "a build needs apt: status $?"
grep -q 'no apt here' said && grep -q -- '--build' called || fail "no build without apt"

rm called
if dev test --arm64; then fail "without apt there are packages for arm64"; else status=$?; fi
[ $status = 3 ] || fail "status $status"
grep -q 'expected an apt with a Debian archive' said || fail "it does not say what arm64 needs"
for words in "wheel --tset" "wheel --torch" "wheel --test --arm64" "wheel --arm64 --test --torch" "tset"; do
  if dev $words; then fail "'$words' is accepted"; else status=$?; fi
  [ $status = 2 ] && grep -q '^usage: ' said || fail "'$words' ends with status $status"
done
[ ! -e called ] || fail "it goes on: $(cat called)"

# Debian, where one package is missing.
cat >bin/dpkg-query <<'END'
#!/usr/bin/env bash
[[ " $MISSING " = *" ${*: -1} "* ]] || echo install ok installed
END
cat >bin/apt-get <<'END'
#!/usr/bin/env bash
echo "apt-get $*" >>called
END
cat >bin/apt-cache <<'END'
#!/usr/bin/env bash
echo "$2:"
candidate=Candidate
[ "${LC_ALL:-}" = C ] || candidate=Installationskandidat  # apt speaks the user's language
if [[ " ${ABSENT:-} " = *" $2 "* ]]; then echo "  $candidate: (none)"; else echo "  $candidate: 9.1.0+ds1-2"; fi
seq 10000  # the versions that there are
END
cat >bin/sudo <<'END'
#!/usr/bin/env bash
echo "sudo" >>called
exec "$@"
END
cat >bin/id <<'END'
#!/usr/bin/env bash
echo 1000
END
chmod +x bin/*
export MISSING=libfmt-dev
dev build || fail "status $?"
grep -q '^apt-get update' called && grep -q '^apt-get install .* libfmt-dev$' called || fail "apt is called so: $(cat called)"
grep -q '^sudo' called || fail "a user who is not root installs without sudo"
grep -q '^  texts.*: libfmt-dev$' said || fail "what is installed is not named"

# Another system with apt, whose archives lack a package: the others are installed.
rm called
export MISSING="libfmt-dev llvm-19-dev clang-19" ABSENT="llvm-19-dev"
dev build || fail "status $?"
grep -q '^apt-get install .* clang-19 libfmt-dev$' called || fail "apt is called so: $(cat called)"
grep -q 'do not have these packages' said && grep -q '^  .* LLVM .*: llvm-19-dev$' said ||
  fail "the package that is absent is not named"
grep -q -- '--build' called || fail "the build does not go on"
if dev setup; then fail "without a package it says that all is well"; else status=$?; fi
[ $status = 3 ] || fail "status $status"
unset ABSENT

# The tests of a run take the same sample of the long families, or all cases.
cat >bin/ctest <<'END'
#!/usr/bin/env bash
echo "ctest $NBCC_TEST_SEED ${NBCC_TEST_ALL:-sample} $*" >>called
END
chmod +x bin/ctest
unset MISSING NBCC_TEST_ALL
NBCC_TEST_SEED=7 dev test --sanitize -R fold || fail "status $?"
grep -q '^ctest 7 sample .* -R fold$' called && grep -q 'NBCC_TEST_SEED=7' said || fail "ctest is called so: $(cat called)"
NBCC_TEST_SEED='' dev test --all --sanitize || fail "status $?"
grep -q '^ctest [0-9][0-9]* 1 ' called || fail "ctest is called so: $(cat called)"
export MISSING=libfmt-dev

# A user who may not install.
rm bin/sudo called
if dev setup; then fail "without root it says that all is well"; else status=$?; fi
[ $status = 3 ] || fail "status $status"
grep -q 'need root' said && grep -q '^  texts.*: libfmt-dev$' said || fail "what is missing is not named"
[ ! -e called ] || fail "it goes on: $(cat called)"

# The files of the repository, or of a copy without one, name no host that packages come from.
hosts='https?://[a-z0-9.-]*(debian|ubuntu|pypi|pythonhosted|anaconda|conda|llvm)\.(org|com|io)'
if grep -rEIl --exclude-dir=.git --exclude-dir='build*' "$hosts" "$source" >said; then fail "hosts of packages are named in"; fi
echo "all is well"
