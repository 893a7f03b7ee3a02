#!/usr/bin/env bash
# test.sh NBODY NBCC: the figure eight keeps its energy; a run that is killed goes on to the same bits; snapshots open;
# wrong files are refused with their line.
set -euo pipefail
nbody=$(realpath "$1") nbcc=$(realpath "$2")
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

"$nbcc" make-ic figure-eight -o eight.txt
"$nbody" eight.txt --eps 0 --dt 0.0005 --end 6.326 --every 6.326 --precision double --quiet | tee eight.out
awk '/^ / {e = $2; d = $3 < 0 ? -$3 : $3} END {exit !(e < -1.28714 && e > -1.287144 && d < 1e-7)}' eight.out ||
  fail "the energy of the figure eight is -1.287141992"

# The file states G. With it the planets keep their energy.
"$nbcc" make-ic solar-system -o planets.txt
"$nbody" planets.txt --eps 0 --dt 0.5 --end 400 --every 400 --precision double --quiet | tee planets.out
grep -q ', G = 0.000295912208' planets.out || fail "the run does not name the G of the file"
awk '/^ / {d = $3 < 0 ? -$3 : $3; e = $2} END {exit !(e < 0 && d < 2e-6)}' planets.out || fail "the planets keep their energy"
grep -v 'G: ' planets.txt >no_g.txt
"$nbody" no_g.txt --G "$(awk '/^# G: / {print $3}' planets.txt)" --eps 0 --dt 0.5 --end 400 --every 400 --precision double --quiet >given.out
cmp planets.out given.out || fail "--G is the G of the file"
"$nbody" planets.txt --G 1 2>refused.out && fail "two values of G"
grep -q 'states G = 0.000295912.*, but --G is 1' refused.out || fail "the message about two values of G: $(cat refused.out)"
"$nbody" planets.txt --eps 0 --dt 0.5 --end 100 --every 100 --precision double --quiet --checkpoint planets.chk >/dev/null
"$nbody" --restart --checkpoint planets.chk --end 400 --every 400 --quiet >restarted.out
[ "$(tail -1 planets.out)" = "$(tail -1 restarted.out)" ] || fail "a checkpoint keeps G"

"$nbcc" make-ic plummer --n 512 --seed 2 -o plummer.txt
run=("$nbody" plummer.txt --rest --end 0.5 --every 0.0625 --quiet)
"${run[@]}" --checkpoint whole.chk --snapshots whole >whole.out
# On a busy machine it may have ended before it is killed; not every time.
for attempt in 1 2 3 4 5 6 7 8; do
  rm -f killed.chk
  : >killed.out  # the reports of the last attempt
  "${run[@]}" --checkpoint killed.chk >killed.out &
  while [ "$(grep -c '^ ' killed.out)" -lt 3 ]; do sleep 0.01; done
  kill -9 $! 2>/dev/null || true
  wait $! 2>/dev/null || true
  cmp -s whole.chk killed.chk || break
done
cmp -s whole.chk killed.chk && fail "every run had ended before it was killed"
"$nbody" --restart --checkpoint killed.chk --end 0.5 --every 0.0625 --quiet >restart.out
cmp whole.chk killed.chk || fail "a run that was killed ends otherwise"
[ "$(tail -1 whole.out)" = "$(tail -1 restart.out)" ] || fail "drifts are told against the beginning"
[ "$(ls whole-*.hdf5 | wc -l)" -eq 9 ] || fail "nine snapshots"

[ "$(head -c 4 whole-0008.hdf5 | tail -c 3)" = HDF ] || fail "a snapshot is HDF5"

"$nbody" plummer.txt --damping 0.99 --end 0.25 --every 0.25 --quiet | awk '/^ / {k[n++] = $2} END {exit !(k[1] < k[0])}' ||
  fail "damping takes energy away"

# The error of a bound system has the sign that its column's name says: energy is lost, and E is below 0.
"$nbody" plummer.txt --damping 0.99 --end 0.25 --every 0.25 --quiet |
  awk 'BEGIN {n = 0} $1 == "#" && $2 == "time" {name = $4} /^ / {e[n] = $2; told[n++] = $3}
       END {share = (e[1] - e[0]) / (name == "dE/|E|" ? -e[0] : name == "dE/E" ? e[0] : 0)
            exit !(e[0] < 0 && (told[1] / share - 1)^2 < 1e-4)}' || fail "the change of the energy is not what its column says"

# Simulators are compared body by body: threads change no bit, instruction sets the last bits alone.
"$nbody" plummer.txt --compare --end 0.005 --dt 0.001 | tee compared.out
awk '/^# 512 bodies after 5 steps of 0.001, single precision/ {told = 1}
     /^CPU, one thread / {same = $(NF - 1) == 0 && $NF == 0}
     /^CPU, sse2 / {near = $(NF - 1) < 1e-5 && $NF < 1e-5 && $NF > 0}
     END {exit !(told && same && near)}' compared.out || fail "simulators are apart"
"$nbody" plummer.txt --compare --end 0.005 --dt 0.001 --precision double |
  awk '/^CPU, sse2 / {near = $(NF - 1) < 1e-12 && $NF < 1e-12} END {exit !near}' || fail "simulators are apart in double precision"

refused() {  # refused STATUS WORDS OPTIONS...
  local status=0 expected=$1 words=$2; shift 2
  "$nbody" --quiet "$@" >said 2>&1 || status=$?
  [ $status = "$expected" ] && grep -q -- "$words" said || fail "status $status by $*: $(cat said)"
}
printf '1 0 0 0 0 0 0\n1 0 0 x 0 0 0\n' >bad.txt
refused 1 'bad.txt:2: this is not a number' bad.txt
refused 2 "cannot read 'none.txt'" none.txt
printf '\222\013c\000History\000' >nemo.snap
refused 2 "'nemo.snap' is a snapshot of NEMO; NEMO makes a text of it: s2a in=nemo.snap" nemo.snap
head -c 100 whole.chk >cut.chk
refused 1 'not a whole one' --restart --checkpoint cut.chk
(printf 'nbody 1\n'; tail -c +9 whole.chk) >old.chk
refused 1 'of another version' --restart --checkpoint old.chk
refused 2 'excludes' --restart --checkpoint whole.chk --eps 0
refused 2 "cannot write './no/x'" eight.txt --checkpoint ./no/x
refused 2 "cannot write './no/x-0000.hdf5'" eight.txt --snapshots ./no/x
refused 2 'not a number above 0' eight.txt --dt nan
refused 2 'too many steps' eight.txt --end 1e300
refused 3 'frobnicator' eight.txt --device frobnicator
refused 2 'compare writes nothing' eight.txt --compare --checkpoint none.chk
[ -z "$(ls -- *.new 2>/dev/null)" ] || fail "a draft was left"

# Bodies at one place, or one alone, pull nobody; what an energy of 0 is off by is no share of it.
printf '1 0 0 0 0 0 0\n1 0 0 0 0 0 0\n' >same.txt
"$nbody" same.txt --eps 0 --end 0.01 --quiet | awk '/^ / {n++; if ($2 != 0 || $3 != "0.000e+00") exit 1} END {exit n != 2}' ||
  fail "two bodies at one place"

# What others write: names of columns, an id, commas, Fortran's exponents, comments.
"$nbody" eight.txt --end 0 --precision double --quiet | grep '^ ' >eight.energy
awk '!/^#/ {printf "%s,%s,%s\t%s,%s,%s,  %s,%s ! body\r\n", $3, $4, $5, $6, $7, $8, $2, $1}' eight.txt |
  sed '1i \ # X Y Z (AU) VX VY VZ mass[sun] id\n\n % from elsewhere' | sed 's/e\([-+]\)/D\1/g' >other.txt
"$nbody" other.txt --end 0 --precision double --quiet | grep '^ ' | cmp - eight.energy || fail "columns in another order"
awk '!/^#/ {print -1, $2, $3, $4, $5, $6, $7, $8}' eight.txt >ids.txt
"$nbody" ids.txt --end 0 --precision double --quiet | grep '^ ' | cmp - eight.energy || fail "an id before each body"
echo '0.5 1 0 0 0 0 0 0' >eight_numbers.txt
refused 1 'eight_numbers.txt:1: .* no id' eight_numbers.txt
printf '# m x[3] v[3]\n1 0 0 0 0 0 0 9\n' >nine.txt
refused 1 'nine.txt:2: 8 words, where a body has 7 by the names in line 1' nine.txt
echo "all is well"
