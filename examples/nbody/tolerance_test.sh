#!/usr/bin/env bash
# tolerance_test.sh NBODY NBCC: forces to a tolerance in simulations, restarts, comparisons and the benchmark; where the
# energy comes from; what is refused.
set -euo pipefail
nbody=$(realpath "$1") nbcc=$(realpath "$2")
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

"$nbcc" make-ic plummer --n 20000 --seed 2 --no-scale -o many.txt
"$nbcc" make-ic plummer --n 25000 --seed 2 --no-scale -o some.txt
"$nbcc" make-ic plummer --n 512 --seed 2 --no-scale -o few.txt
steps=(--dt 0.001 --end 0.005 --every 0.005)
to=(--tolerance 1e-2)

# The numbers of the line behind "# forces: far field" or "# energy: far field": pairs of each body, then the error.
numbers_of() { awk -v name="# $1: far field" 'index($0, name) == 1 {pairs = $(NF - 7); getline; print pairs, $(NF - 7)}' "$2"; }

"$nbody" many.txt "${steps[@]}" --quiet >exact.out
"$nbody" many.txt "${steps[@]}" "${to[@]}" --quiet | tee far.out
"$nbody" many.txt "${steps[@]}" "${to[@]}" --energy-tolerance 0 --quiet | tee far_exact.out
"$nbody" many.txt "${steps[@]}" "${to[@]}" --energy-tolerance 1e-3 --quiet | tee far_far.out
grep -q '^# forces to tolerance 0.01; potential energy: from the sums of the forces' far.out || fail "heading"
grep -q '^# forces to tolerance 0.01; potential energy: all pairs in double' far_exact.out || fail "heading"
grep -q '^# forces to tolerance 0.01; potential energy: a sum in double precision, to tolerance 0.001' far_far.out || fail "heading"
for out in far far_exact far_far; do
  numbers_of forces $out.out | awk '{n++; good = $1 < 10000 && $2 <= 1e-2 && $2 > 1e-4} END {exit !(n == 1 && good)}' ||
    fail "forces of $out.out have no far field within its tolerance"
done
numbers_of energy far_far.out | awk '{n++; good = $1 < 20000 && $2 <= 1e-3 && $2 > 1e-5} END {exit !(n == 1 && good)}' ||
  fail "the energy has no far field within its own tolerance"
grep -q '^# energy' far.out far_exact.out && fail "an energy without a tolerance has no report"

# The energy at the start: all pairs in double precision are the same sum; the others are within their tolerances.
energy_of() { awk '/^ / {print $2; exit}' "$1"; }
[ "$(energy_of exact.out)" = "$(energy_of far_exact.out)" ] || fail "the energy of --energy-tolerance 0"
near() { awk -v a="$1" -v b="$2" -v most="$3" 'BEGIN {d = (a - b) / b; d = d < 0 ? -d : d; exit !(d > 0 && d <= most)}'; }
# The potential is twice the energy.
near "$(energy_of far.out)" "$(energy_of exact.out)" 2e-2 || fail "the energy by the sums of the forces"
near "$(energy_of far_far.out)" "$(energy_of exact.out)" 2e-3 || fail "the energy by a far field"

# A restart has the settings of the checkpoint. The energy over all pairs of the same bodies is the same; by a far field
# it is within the tolerance, and the error of the energy is relative to the beginning of the first run.
restart=(--restart --end 0.01 --every 0.005 --quiet)
"$nbody" many.txt "${steps[@]}" "${to[@]}" --energy-tolerance 0 --quiet --checkpoint exact.chk >begun.out
"$nbody" --checkpoint exact.chk "${restart[@]}" >restarted.out
grep -q 'to tolerance 0.01; potential energy: all pairs in double' restarted.out || fail "tolerances of a checkpoint"
[ "$(grep '^ ' begun.out | tail -1)" = "$(grep '^ ' restarted.out | head -1)" ] || fail "a restart begins elsewhere"
[ -n "$(numbers_of forces restarted.out)" ] || fail "a restart has no far field"
"$nbody" many.txt "${steps[@]}" "${to[@]}" --quiet --checkpoint far.chk >begun.out
"$nbody" --checkpoint far.chk "${restart[@]}" >restarted.out
grep -q 'to tolerance 0.01; potential energy: from the sums of the forces' restarted.out || fail "tolerance of a checkpoint"
awk 'NR == FNR {if (/^ /) {time = $1; energy = $2; if (!first) first = $2} next}
     /^ / {d = ($2 - energy) / energy; change = ($2 - first) / -first; told = change - $3
           rounding = 5e-4 * (change < 0 ? -change : change) + 1e-11  # dE/|E| has 4 digits, an energy 12
           exit !($1 == time && d * d <= 4e-4 && told * told <= rounding * rounding)}' begun.out restarted.out ||
  fail "the energy of a restart"
"$nbody" --checkpoint far.chk --restart --end 0.006 --compare >restarted.out
grep -q '^CPU, all pairs ' restarted.out || fail "a comparison from a checkpoint"

# Bodies that feel a force of 1 for 0.005 units of time are faster by 0.005. A largest error is some 10 times the rms.
"$nbody" many.txt --dt 0.001 --end 0.005 "${to[@]}" --compare | tee compared.out
[ -n "$(numbers_of forces compared.out)" ] || fail "the comparison does not report its far field"
awk '/^CPU, all pairs / {far = $NF > 1e-6 && $NF < 1e-3}
     /^CPU, one thread / {same = $(NF - 1) == 0 && $NF == 0}
     /^CPU, sse2 / {near = $NF > 0 && $NF < 1e-3}
     END {exit !(far && same && near)}' compared.out || fail "simulators are apart"

# Few bodies: all pairs cost less. More, but a small tolerance: a far field was tried, and all pairs in a raised
# precision keep the tolerance.
"$nbody" few.txt --end 0.001 "${to[@]}" --quiet | tee few.out
grep -q '^# forces: all pairs, in single precision; costs as much as .*; far field: costs as much as' few.out || fail "few bodies"
"$nbody" some.txt --end 0 --tolerance 1e-6 --quiet | tee some.out
awk '/^# forces: all pairs to tolerance 1e-06, in mixed precision$/ {getline; found = $2 == "error" && $(NF - 7) <= 1e-6 && $(NF - 7) > 0}
     END {exit !found}' some.out || fail "a small tolerance"

"$nbody" --benchmark --n 512,20000 "${to[@]}" | tee benchmark.out
awk '/^ *512 / {rows++; few += $3 > 0 && $5 == 512 && $6 == "-" && /all pairs/}
     /^ *20000 / {rows++; many += $3 > 0 && $4 > 0 && $5 < 10000 && $6 <= 1e-2 && $6 > 1e-4 && /far field/}
     END {exit !(few >= 1 && few == many && rows == few + many)}' benchmark.out || fail "the benchmark"

refused() {  # refused WORDS OPTIONS...
  local status=0 words=$1; shift
  "$nbody" --quiet "$@" >said 2>&1 || status=$?
  [ $status = 2 ] && grep -q -- "$words" said || fail "status $status by $*: $(cat said)"
}
for wrong in 2 -1 nan 1e-15 x; do
  refused "'$wrong' is not 0 (all pairs), or a number from 1e-14 to 1" few.txt "--tolerance=$wrong"
done
refused 'not 0 (all pairs), or a number from 1e-14' few.txt --tolerance 1e-3 --energy-tolerance 7
refused '--mpi sums over all pairs' few.txt --mpi --tolerance 1e-3
refused '--energy-tolerance needs a --tolerance above 0' few.txt --energy-tolerance 1e-3
refused '--energy-tolerance needs a --tolerance above 0' few.txt --tolerance 0 --energy-tolerance 0
refused '--energy-tolerance is for reports' few.txt --tolerance 1e-3 --energy-tolerance 0 --compare
refused '--energy-tolerance is for reports' --benchmark --tolerance 1e-3 --energy-tolerance 0
refused 'excludes' --restart --checkpoint far.chk --tolerance 1e-3
refused 'excludes' --restart --checkpoint far.chk --energy-tolerance 1e-3
echo "all is well"
