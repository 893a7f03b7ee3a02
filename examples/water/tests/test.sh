#!/usr/bin/env bash
# test.sh WATER: what the program says of LAMMPS's numbers, that it fails for others, and what it refuses.
set -euo pipefail
water=$(realpath "$1")
files=$(dirname "$(realpath "$0")")/../from_lammps
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
refused() {  # refused STATUS WORDS OPTIONS...
  local status=0 expected=$1 words=$2; shift 2
  "$water" "$@" >said 2>&1 || status=$?
  [ $status = "$expected" ] && grep -q -- "$words" said || fail "status $status by $*: $(cat said)"
}
# other FILE EXPRESSION: the files, of which one has been changed by sed.
other() {
  rm -rf other && cp -r "$files" other
  sed -i "$2" "other/$1"
  cmp -s "other/$1" "$files/$1" && fail "$1 is the same after $2"
  return 0
}

"$water" "$files" --steps 101 | tee said
[ "$(grep -Ec ' [0-9.]+e-1[0-9]$| 0.0e\+00$' said)" = 9 ] || fail "seven terms and two moments"
grep -Eq '^step 101 +-3660\.[0-9]+$' said || fail "the last step"
"$water" "$files" --steps 100 --json | python3 -c '
import json, sys
told = json.load(sys.stdin)
assert sorted(told["energies"]) == ["bond_hh", "bond_oh", "coulomb", "kinetic", "lj", "potential", "total"], told
assert [moment["step"] for moment in told["run"]] == [0, 100], told
assert told["difference_of_forces"] < 1e-10 and told["steps"] == 100, told' || fail "what it tells in JSON"

# Numbers that are wrong in the tenth digit.
other energies.txt 's/^lj 1353.27096/lj 1353.27097/'
refused 1 'not what LAMMPS has: lj$' other --steps 0
other forces.txt '3s/^13.48039672/13.48039679/'
refused 1 'not what LAMMPS has: the forces$' other --steps 0
other nve.txt 's/-3660.27782/-3660.27783/'
refused 1 'not what LAMMPS has: the total energy of step 100$' other --steps 100

other water.txt '3s/ 1$/ 2/'
refused 1 'water.txt: the atoms are not in the order O, H, H' other
other water.txt '$d'
refused 1 'water.txt: the last molecule is not whole' other
other vel.txt '$d'
refused 1 'vel.txt: expected 1536 rows, got 1535' other
other nve.txt '2s/ / x/'
refused 1 "nve.txt:2: this is not a number: 'x" other
other energies.txt '/^alpha/s/$/ 1/'
refused 1 'energies.txt:[0-9]*: expected a name and a number' other
other energies.txt '/^total/d'
refused 1 "the energies have no 'total'" other
rm other/water.txt
refused 2 "cannot read 'other/water.txt'" other
refused 2 'at least 0' "$files" --skin -1
refused 3 'frobnicator' "$files" --device frobnicator
echo "all is well"
