#!/usr/bin/env bash
# test.sh SPH: densities, frequencies, shocks and energies that are known, and options that are refused.
set -euo pipefail
sph=$(realpath "$1")
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
says() {  # says WORDS COMMAND...
  local words=$1; shift
  "$@" >said 2>&1 || fail "$*: $(cat said)"
  grep -q -- "$words" said || fail "'$words' by $*: $(cat said)"
}
refused() {  # refused STATUS WORDS COMMAND...
  local status=0 expected=$1 words=$2; shift 2
  "$@" >said 2>&1 || status=$?
  [ $status = "$expected" ] && grep -q -- "$words" said || fail "status $status by $*: $(cat said)"
}

# Sod's tube, and the other patterns of waves with E. F. Toro's numbers (tests 2 to 5 of his book's chapter 4).
says "pressure 0.303130178051, velocity 0.927452620049" "$sph" riemann
says "left: rarefaction .* density behind it 0.426319428178" "$sph" riemann
says "right: shock of speed 1.752155732.* density behind it 0.265573711705" "$sph" riemann
says "pressure 0.00189" "$sph" riemann --left 1 -2 0.4 --right 1 2 0.4
says "right: rarefaction .* density behind it 0.0218" "$sph" riemann --left 1 -2 0.4 --right 1 2 0.4
says "pressure 460.89[34].*, velocity 19.597[45]" "$sph" riemann --left 1 0 1000 --right 1 0 0.01
says "pressure 1691.6[45].*, velocity 8.689" "$sph" riemann --left 5.99924 19.5975 460.894 --right 5.99242 -6.19633 46.095
says "pressure 46.09[45].*, velocity -6.1963[23]" "$sph" riemann --left 1 0 0.01 --right 1 0 100
says "right: rarefaction .* density behind it 0.5751[12]" "$sph" riemann --left 1 0 0.01 --right 1 0 100
says "right: shock .* density behind it 31.042[56]" "$sph" riemann --left 5.99924 19.5975 460.894 --right 5.99242 -6.19633 46.095
says "left: shock .* density behind it 14.282" "$sph" riemann --left 5.99924 19.5975 460.894 --right 5.99242 -6.19633 46.095
refused 2 vacuum "$sph" riemann --left 1 -10 0.4 --right 1 10 0.4

# The cubic lattice with h = 1.2 distances: eta is what leads there.
says "density 1.000809548358 to 1.000809548358" \
  "$sph" wave --cubic --amplitude 0 --precision double --eta 1.20032373200018

"$sph" wave | tee wave.out
awk '/frequency/ {e = $NF < 0 ? -$NF : $NF; seen = 1} END {exit !(seen && e < 1e-3)}' wave.out || fail "the frequency of a wave"

"$sph" wave --end 0.05 | grep -q 'time 0.05 in' || fail "part of a period"

for cells in 16 32; do "$sph" sod --cells $cells --profile $cells.txt; done | tee sod.out
awk '/^density/ {d[n++] = $NF} /^energy/ {e = $NF < 0 ? -$NF : $NF; if (e > 1e-4) exit 1}
     END {exit !(n == 2 && d[0] < 0.033 && d[1] < 0.024)}' sod.out || fail "the errors of the tube"
[ "$(grep -vc '#' 32.txt)" = 4608 ] || fail "a line for each particle"
"$sph" sod --cells 16 --gamma 1.6666666667 | awk '/^density/ {exit !($NF < 0.039)}' || fail "the tube of another gas"

"$sph" evrard --cells 10 --end 1 --every 0.5 | tee evrard.out
awk '/^ / {n += 0; k[n] = $2; u[n] = $3; w[n] = $4; d = $6 < 0 ? -$6 : $6; if (d > 1e-3) exit 1; n++}
     END {exit !(n == 3 && k[0] == 0 && u[0] == 0.05 && w[0] < -0.65 && w[0] > -0.6667 && u[2] > 0.7)}' evrard.out ||
  fail "the energies of the collapse"

says "wrote tube.svg" "$sph" sod --cells 8 --end 0.01 --picture tube.svg
for words in "density, mean error 0.0[0-9]*" "velocity, mean" "pressure, mean" "thermal energy, mean" exact particles; do
  grep -q "$words" tube.svg || fail "'$words' in the picture of the tube"
done
says "wrote ball.svg" "$sph" evrard --cells 8 --end 0.1 --every 0.1 --picture ball.svg
for words in "Total energy changes by at most" potential "At time 0.1 gas falls" "radial velocity</text>" "Densities differ by a factor of" "p / density^γ differs by a factor of"; do
  grep -q "$words" ball.svg || fail "'$words' in the picture of the ball"
done
refused 2 "--picture: 'tube.png': a chart is an SVG file" "$sph" sod --picture tube.png
refused 2 "cannot write './no/x.svg'" "$sph" evrard --picture ./no/x.svg

refused 2 "past the ends" "$sph" sod --end 0.4
refused 1 "more cells across" "$sph" sod --cells 16 --across 4
refused 2 "pressure must be" "$sph" sod --left 1 -1
refused 2 "subcommand" "$sph"
refused 2 "not a number" "$sph" riemann --left 1 nan 1
refused 2 "too dense" "$sph" sod --right 1e9 1
refused 2 "cannot write './no/x'" "$sph" sod --profile ./no/x
refused 2 "courant" "$sph" sod --courant 2
refused 3 "frobnicator" "$sph" sod --device frobnicator
echo "all is well"
