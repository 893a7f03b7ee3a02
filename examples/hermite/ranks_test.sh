#!/usr/bin/env bash
# ranks_test.sh HERMITE NBCC MPIEXEC: bodies on 1, 2, 3 and 5 ranks take the steps that they take in one process, in the same
# blocks, and have its energies. Of the pair on five ranks three have no body; most blocks of the cluster leave ranks out.
set -euo pipefail
hermite=$(realpath "$1") nbcc=$(realpath "$2") mpiexec=$3
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
spread() { "$mpiexec" --oversubscribe --allow-run-as-root --bind-to none -np "$1" "$hermite" "${@:2}" --mpi; }
# same FILE FILE WORDS: the numbers of both are as many, and the same but for rounding.
same() {
  paste -d ' ' <(tr -s ' ' '\n' <"$1") <(tr -s ' ' '\n' <"$2") |
    awk '{ d = $1 - $2 } NF == 1 || d < -1e-12 || d > 1e-12 { exit 1 }' || fail "$3: $(paste "$1" "$2")"
}
reports() { awk '/^ +[0-9]+[.]/ { print $1, $2 }' "$1"; }
blocks() { sed -n '/^blocks/p;/^steps/p;s/^ *\([0-9]* - *[0-9]* *[0-9]* *[0-9]*\) .*/\1/p' "$1"; }

"$nbcc" make-ic plummer --n 64 --seed 2 -o plummer.txt
printf '0.5 0.5 0 0 0 0.5 0\n0.5 -0.5 0 0 0 -0.5 0\n' >pair.txt
cluster=(plummer.txt --precision double --end 0.25 --every 0.125 --statistics)
pair=(pair.txt --eps 0 --precision double --end 1 --order 6)
"$hermite" "${cluster[@]}" >alone
[ "$(reports alone | wc -l)" = 3 ] && [ "$(blocks alone | wc -l)" -gt 6 ] || fail "the run of one process: $(cat alone)"
"$hermite" "${pair[@]}" --output alone.txt >/dev/null
for ranks in 1 2 3 5; do
  spread $ranks "${cluster[@]}" >spread
  reports alone >alone.energies
  reports spread >spread.energies
  same alone.energies spread.energies "energies on $ranks ranks"
  diff <(blocks alone) <(blocks spread) || fail "blocks on $ranks ranks"
  spread $ranks "${pair[@]}" --output spread.txt >/dev/null
  same alone.txt spread.txt "a pair on $ranks ranks"
done
diff <("$hermite" pair.txt --eps 0 --forces) <(spread 2 pair.txt --eps 0 --forces) || fail "forces on 2 ranks"
if "$hermite" --experiment table2 --mpi 2>said; then fail "--mpi with --experiment"; fi
grep -q -- 'excludes --experiment' said || fail "--mpi with --experiment: $(cat said)"
