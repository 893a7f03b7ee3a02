#!/usr/bin/env bash
# test.sh HERMITE NBCC CASE: "known" are systems whose motion is known; "experiments" are the paper's, as they are printed
# and drawn; "nbabel" and "threebody" are published ones, whose
# files stand beside the project (../shared/validation): without them the case is skipped.
set -euo pipefail
hermite=$(realpath "$1") nbcc=$(realpath "$2") case=$3
here=$(dirname "$(realpath "$0")")
files=$here/../../../shared/validation
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
run() { "$hermite" "$@" --eps 0 --precision double; }
# Of a run's output on standard input: the error of the energy in its last report, and how far from the start it ends.
energy_error() { awk '/^ +[0-9]+[.]/ { e = $3 } END { print e < 0 ? -e : e }'; }
distance() { awk '/^farthest/ { print $NF }'; }
below() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 < b + 0) }' || fail "$3: $1 is not below $2"; }

known() {
  # A circular pair: acc = -x, jerk = -v, snap = x; at time 4 it has turned by 4.
  printf '0.5 0.5 0 0 0 0.5 0\n0.5 -0.5 0 0 0 -0.5 0\n' >pair.txt
  run pair.txt --forces | tail -2 | tr '\n' ' ' |
    awk '{ for (k = 1; k <= 18; ++k) if (($k - want(k))^2 > 1e-28) exit 1 }
         function want(k) { return k == 1 || k == 5 || k == 16 ? -0.5 : k == 7 || k == 10 || k == 14 ? 0.5 : 0 }' ||
    fail "forces of a circular pair"
  for order in 4 6; do
    for step in 0.1 0.05; do
      run pair.txt --end 4 --fixed-step $step --order $order --output turned.txt >/dev/null
      awk 'END { print sqrt(($2 + 0.5 * cos(4))^2 + ($3 + 0.5 * sin(4))^2) }' turned.txt
    done | tr '\n' ' ' | awk -v order=$order '{ r = log($1 / $2) / log(2); print "order", r; exit !(r > order - 0.3 && r < order + 0.7) }' ||
      fail "half the step does not divide the error by 2^$order"
  done

  # The file states G, and so does that of the bodies at the end.
  "$nbcc" make-ic solar-system -o planets.txt
  run planets.txt --end 365.25 --largest-step 1 --output later.txt >planets.out
  grep -q ', G = 0.000295912208' planets.out || fail "the run does not name the G of the file"
  below "$(energy_error <planets.out)" 1e-7 "energy of the planets"
  grep -q '^# G: 0.000295912208' later.txt || fail "the bodies at the end state no G"
  run planets.txt --G 1 2>refused.out && fail "two values of G"
  grep -q 'states G = 0.000295912.*, but --G is 1' refused.out || fail "two values of G: $(cat refused.out)"

  "$nbcc" make-ic figure-eight -o eight.txt
  run eight.txt --end 6.32591398 --eta 0.001 --return >eight.out
  below "$(energy_error <eight.out)" 1e-9 "energy of the figure eight"
  below "$(distance <eight.out)" 1e-7 "the figure eight returns"
  awk 'BEGIN { n = 0 } $1 == "#" && $2 == "time" { name = $4 } /^ / { e[n] = $2; told[n++] = $3 }
       END { change = e[n - 1] - e[0]; exit !(name == "dE/|E|" && e[0] < 0 && told[n - 1] * change >= 0) }' eight.out ||
    fail "the change of the energy is not what its column says"

  # Burrau's problem: masses 3, 4, 5 at rest in the corners of a triangle; E = -769/60.
  printf '3 1 3 0 0 0 0\n4 -2 -1 0 0 0 0\n5 1 -1 0 0 0 0\n' >burrau.txt
  run burrau.txt --forces | awk 'NR == 2 { a = $1 + 12 / 125; b = $2 + 0.4405 } END { exit !(a^2 + b^2 < 1e-28) }' ||
    fail "forces of the Pythagorean problem"
  for order in 4 6; do
    run burrau.txt --end 5 --eta 0.001 --order $order --json >burrau.json
    grep -q '"time": 0, "energy": -12.816666666666' burrau.json || fail "energy of the Pythagorean problem"
    below "$(sed -n 's/.*"time": 5,.*"error": -\{0,1\}\([^,]*\),.*/\1/p' burrau.json)" 1e-7 "order $order to t = 5"
  done

  # The precision of the force is not what limits the energy here.
  "$nbcc" make-ic plummer --n 128 --seed 2 -o plummer.txt
  for precision in single mixed double; do
    "$hermite" plummer.txt --rest --end 0.25 --eta 0.0025 --precision $precision --statistics >$precision.out
    below "$(energy_error <$precision.out)" 5e-8 "energy in $precision precision"
  done
  awk '/^ *[0-9]+ - / { blocks += $4; steps += $5 } /^blocks:/ { want = $2 + 0 } END { exit !(blocks == want && steps > 128) }' \
    double.out || fail "the histogram has all blocks"

  # Kepler's ellipse of eccentricity 0.9, from its far end once around; a body without mass goes the same way. In mixed
  # precision the steps near the centre must not become ever shorter.
  printf '0.5 0.95 0 0 0 0.11470786693528087 0\n0.5 -0.95 0 0 0 -0.11470786693528087 0\n' >ellipse.txt
  printf '1 0 0 0 0 0 0\n0 1.9 0 0 0 0.22941573387056174 0\n' >comet.txt
  for order in 4 6; do
    for file in ellipse.txt comet.txt; do
      run $file --end 6.283185307179586 --eta 0.001 --order $order --return >ellipse.out
      below "$(distance <ellipse.out)" 1e-6 "$file returns, order $order"
    done
    "$hermite" ellipse.txt --eps 0 --end 6.283185307179586 --eta 0.001 --order $order --return >mixed.out
    below "$(distance <mixed.out)" 1e-5 "the ellipse in mixed precision, order $order"
  done

  # Nobody pulls: the energy is 0, and its error no share of it.
  printf '1 0 0 0 0 0 0\n1 0 0 0 0 0 0\n' >same.txt
  printf '0 0 0 0 1 0 0\n' >one.txt
  for file in same.txt one.txt; do
    run $file --end 0.5 --json >none.json
    [ "$(grep -c '"energy": 0, "error": 0.000000e+00' none.json)" = 2 ] || fail "$file: $(cat none.json)"
  done

  printf '1 0 0 0 0 0 0\n1 0 0 x 0 0 0\n' >bad.txt
  refused 1 'bad.txt:2: this is not a number' bad.txt
  refused 2 "cannot read 'none.txt'" none.txt
  refused 2 'give bodies' --end 1
  refused 2 'not a number above 0' pair.txt --eta 0
  refused 2 'too many steps' pair.txt --end 1e300
  refused 2 "cannot write './no/x'" pair.txt --output ./no/x
  refused 2 "--picture: 'model.png': a chart is an SVG file" --experiment model --picture model.png
  refused 2 'expected --experiment figure2 or model, got table2' --experiment table2 --picture table.svg
  refused 2 'expected --experiment table2, got model' --experiment model --runs 5
  refused 2 'is no multiple of the largest step' --experiment table2 --begin 0.1
  refused 3 frobnicator pair.txt --device frobnicator
}
refused() {  # refused STATUS WORDS OPTIONS...
  local status=0 expected=$1 words=$2; shift 2
  run "$@" >said 2>&1 || status=$?
  [ $status = "$expected" ] && grep -q -- "$words" said || fail "status $status by $*: $(cat said)"
}

experiments() {
  "$hermite" --experiment table2 --largest 512 >table.txt
  # A later quarter has about as many blocks as the first, and only its own ones are counted.
  "$hermite" --experiment table2 --largest 256 --begin 0.25 --runs 2 >later.txt
  grep -q '^# Plummer spheres from t = 0.25 to t = 0.5 on ' later.txt || fail "the time of a later quarter: $(cat later.txt)"
  awk 'NR == FNR && /^ +256 / { first = $3; next } /^ +256 / { found = $3 > first / 2 && $3 < first * 2 && $5 > 20 && $2 > 0 && $8 > 0 }
       END { exit !found }' table.txt later.txt || fail "blocks of a later quarter: $(cat later.txt)"
  "$hermite" --experiment phases --largest 256 >phases.txt
  awk '/^ +256 +[0-9.]/ { sum = $4 + $5 + $6 + $7 + $8 + $9; seen = (sum - $3)^2 < 1e-6 && $3 > 0 } END { exit !seen }' phases.txt ||
    fail "the parts of the time are all of it: $(cat phases.txt)"
  "$hermite" --experiment model --largest 512 --picture model.svg >model.txt
  for name in measured model calculation communication host; do
    grep -q ">$name</text>" model.svg || fail "'$name' in the picture of the model"
  done
  "$hermite" --experiment figure2 --sizes 16,32 --etas 0.02,0.04 --picture figure2.svg >figure2.txt
  for count in 16 32; do
    for precision in single mixed double; do
      grep -q ">$count, $precision</text>" figure2.svg || fail "$count bodies in $precision precision in figure 2"
    done
  done
  [ "$(grep -c '<title>0.0[24], ' figure2.svg)" = 12 ] || fail "the points of figure 2: $(cat figure2.txt)"
  grep -Eq '^bodies in a block: +[0-9.]+ N\^[0-9.]+, within [0-9]+%$' model.txt || fail "fit of the mean block"
  grep -Eq '^blocks in a unit of time: +[0-9.]+ N\^-?[0-9.]+, within [0-9]+%$' model.txt || fail "fit of the blocks"

  # At 256 bodies the other device takes half of the time.
  printf '256 0.5\n' >host.txt
  printf '# bodies seconds\n256 0.25 1 2\n512 0.5 1 2\n' >other.txt
  python3 "$here/charts.py" --times times.svg --speed-up speed.svg --host here here=host.txt there=other.txt
  for figure in times.svg speed.svg; do
    python3 -c "import sys, xml.dom.minidom as m; m.parse(sys.argv[1])" $figure || fail "$figure is no XML"
  done
  # Those of 2007: four devices, three of them over the fourth. Ours: two devices, of one of them 2 points; one speed-up.
  # The legend has a line and a marker for each curve; curves of one point have no other line.
  [ "$(grep -c '<path class="line ' times.svg)" = $((6 + 5)) ] || fail "curves of times.svg"
  [ "$(grep -c '<path class="line ' speed.svg)" = $((4 + 3)) ] || fail "curves of speed.svg"
  [ "$(grep -c -e '-fill" [cd]' times.svg)" = $((6 + 1 + 2 + 9 + 12 + 9 + 9)) ] || fail "points of times.svg"
  [ "$(grep -c -e '-fill" [cd]' speed.svg)" = $((4 + 1 + 3 * 9)) ] || fail "points of speed.svg"
  python3 "$here/charts.py" --times times.svg a=table.txt || fail "charts.py reads what table2 prints"
  local status=0
  python3 "$here/charts.py" --times times.svg a=none.txt 2>said || status=$?
  [ $status = 2 ] && grep -q none.txt said || fail "status $status for a table that is not there"
}

nbabel() {
  for size in 16 64; do
    run "$files/nbabel/input$size" --end 1 --eta 0.001 >out
    awk '/^ / { exit !(($2 + 0.25)^2 < 1e-24) }' out || fail "NBabel's $size bodies have E = -1/4"
    below "$(energy_error <out)" 1e-8 "energy of NBabel's $size bodies"
  done
}

threebody() {
  grep -v '^#' "$files/threebody/li_liao_first4.txt" >orbits.txt
  while read -r name v1 v2 period; do
    awk -v a="$v1" -v b="$v2" 'BEGIN {
      printf "1 -1 0 0 %.17g %.17g 0\n1 1 0 0 %.17g %.17g 0\n1 0 0 0 %.17g %.17g 0\n", a, b, a, b, -2 * a, -2 * b }' >orbit.txt
    for order in 4 6; do
      below "$(run orbit.txt --end "$period" --order $order --eta 0.0001 --return | distance)" 1e-6 "$name, order $order"
    done
  done <orbits.txt
}

[ "$case" = known ] || [ "$case" = experiments ] || [ -d "$files" ] || { echo "no $files: skipped"; exit 77; }
$case
echo "all is well"
