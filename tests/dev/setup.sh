#!/usr/bin/env bash
# setup.sh SOURCE_FOLDER: `./dev setup` installs the packages that are missing by the system's own apt, and where there is
# no apt it names them and fails; `./dev build` then goes on. No host of packages is named by any file of the repository.
# What `dev` calls (apt-get, dpkg-query, cmake) is replaced by what writes down how it was called.
set -euo pipefail
source=$1
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
fail() { echo "FAILED: $*"; cat said; exit 1; }
: >said

mkdir bin tools
cp "$source/dev" .
for tool in bash dirname nproc id grep sed cat mktemp rm tee awk env; do ln -s "$(command -v $tool)" tools; done
echo 'echo "cmake $*" >>called' >bin/cmake
sed -i '1i #!/usr/bin/env bash' bin/cmake
chmod +x bin/cmake
NBCC_BUILD_DIR=$PWD/made
export NBCC_BUILD_DIR
dev() { PATH=$PWD/bin:$PWD/tools ./dev "$@" >shown 2>said </dev/null; }

if dev setup; then fail "without apt it says that all is well"; else status=$?; fi
[ $status = 3 ] || fail "status $status"
grep -q 'no apt here' said && grep -q 'llvm-19-dev .*libcli11-dev .*clang-format-19' said || fail "the packages are not named"
[ ! -e called ] || fail "it goes on: $(cat called)"
dev build || fail "a build needs apt: status $?"
grep -q 'no apt here' said && grep -q -- '--build' called || fail "no build without apt"

# Debian, where one package is missing.
cat >bin/dpkg-query <<'END'
#!/usr/bin/env bash
[ "${*: -1}" = libfmt-dev ] || echo install ok installed
END
cat >bin/apt-get <<'END'
#!/usr/bin/env bash
echo "apt-get $*" >>called
END
cat >bin/sudo <<'END'
#!/usr/bin/env bash
exec "$@"
END
chmod +x bin/*
rm called
dev build || fail "status $?"
grep -q '^apt-get update' called && grep -q '^apt-get install .* libfmt-dev$' called || fail "apt is called so: $(cat called)"

# The files of the repository, or of a copy without one, name no host that packages come from.
hosts='https?://[a-z0-9.-]*(debian|ubuntu|pypi|pythonhosted|anaconda|conda|llvm)\.(org|com|io)'
if grep -rEIl --exclude-dir=.git --exclude-dir='build*' "$hosts" "$source" >said; then fail "hosts of packages are named in"; fi
echo "all is well"
