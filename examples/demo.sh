#!/usr/bin/env bash
# The main job from end to end: a Plummer sphere of 16384 bodies is made, its forces and potential are summed by
# pipelines/gravity.pipe, held against the double-precision oracle, and timed; then the Sun and its planets.
# Usage: demo.sh NBCC    (the built command)
set -euo pipefail
nbcc=$(realpath "$1")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

printf 'A Plummer sphere: 16384 bodies in Henon units (G = M = 1, E = -1/4), scaled to virial\n'
"$nbcc" make-ic plummer --n 16384 --seed 1 -o "$work/plummer.h5"
"$nbcc" make-ic plummer --n 16384 --seed 1 -o "$work/plummer.txt"

"$nbcc" run pipelines/gravity.pipe --i "$work/plummer.h5" --param eps2=1e-4 -o "$work/forces.txt"
printf '\nForces and potential by pipelines/gravity.pipe, softening 0.01, double precision, which is that of the file; the first rows:\n'
awk '/^#/ { header = $0; next } !shown++ { print header } shown < 4 { print }' "$work/forces.txt" | head -n 4

# K from the velocities of the file; U, and the virial sum(m x.a) which must equal it, from the sums without softening.
"$nbcc" run pipelines/potential.pipe --i "$work/plummer.h5" --param eps2=0 --precision double -o "$work/potential.txt"
grep -v '^#' "$work/plummer.txt" >"$work/bodies"
grep -v '^#' "$work/potential.txt" >"$work/sums"
paste -d ' ' "$work/bodies" "$work/sums" | awk '
  { K += 0.5 * $2 * ($6 * $6 + $7 * $7 + $8 * $8); U += 0.5 * $2 * $NF }
  END { printf "\nVirial numbers, unsoftened, in double precision\n  K = %.12f   (1/4)\n  U = %.12f   (-1/2)\n  -2K/U = %.12f\n", K, U, -2 * K / U }'

printf '\nAgainst the double-precision oracle\n'
"$nbcc" verify pipelines/gravity.pipe --i "$work/plummer.h5"

printf '\nSpeed\n'
"$nbcc" bench pipelines/gravity.pipe --n 16384

printf '\nThe Sun and eight planets at J2000.0 (solar masses, AU, days)\n'
"$nbcc" make-ic solar-system -o "$work/planets.txt"
"$nbcc" run pipelines/gravity.pipe --i "$work/planets.txt" --param eps2=1e-12 --precision double -o "$work/pull.txt"
grep -v '^#' "$work/planets.txt" >"$work/bodies"
grep -v '^#' "$work/pull.txt" >"$work/sums"
# k = 0.01720209895 is Gauss's constant: G = k^2 in these units; 1 AU/day^2 = 20.0400 m/s^2.
paste -d ' ' "$work/bodies" "$work/sums" | awk '
  BEGIN { split("Sun Mercury Venus Earth+Moon Mars Jupiter Saturn Uranus Neptune", name, " "); k2 = 0.01720209895 ^ 2; metres = 1.495978707e11 / 86400 ^ 2
          printf "  %-11s %14s %22s %24s\n", "", "distance (AU)", "acceleration (m/s^2)", "2 pi sqrt(r/a) (years)" }
  NR == 1 { sx = $3; sy = $4; sz = $5; next }
  { r = sqrt(($3 - sx) ^ 2 + ($4 - sy) ^ 2 + ($5 - sz) ^ 2); a = k2 * sqrt($(NF - 3) ^ 2 + $(NF - 2) ^ 2 + $(NF - 1) ^ 2)
    printf "  %-11s %14.6f %22.6e %24.4f\n", name[NR], r, a * metres, 2 * 3.14159265358979 * sqrt(r / a) / 365.25 }'
