#!/usr/bin/env bash
# The main job from end to end: makes a Plummer sphere of 16384 bodies, sums its forces and potential by
# pipelines/gravity.pipe, compares them with the double-precision oracle, and measures the speed; then the Sun and its
# planets; then two clusters that collide, with a picture and a film.
# Usage: demo.sh NBCC NBODY FOLDER    (the built command and example program; the folder for bodies, picture and film)
set -euo pipefail
nbcc=$(realpath "$1") nbody=$(realpath "$2")
mkdir -p "$3"
results=$(realpath "$3")
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

# Two Plummer spheres of mass 1 and virial radius 1 on a bound orbit; the second is the first with its axes exchanged, so
# that it looks different.
printf '\nTwo clusters of 4096 bodies collide: 300 steps by examples/nbody\n'
"$nbcc" make-ic plummer --n 4096 --seed 2 -o "$work/cluster.txt"
grep -v '^#' "$work/cluster.txt" | awk '
  BEGIN { print "# mass x y z vx vy vz" }
  { print $2, $3 - 1.9, $4 - 0.45, $5, $6 + 0.3, $7, $8
    print $2, $5 + 1.9, $3 + 0.45, $4, $8 - 0.3, $6, $7 }' >"$results/collision.txt"
steps=(--dt 0.03125 --eps 0.05)
run=("$nbody" "$results/collision.txt" "${steps[@]}" --end 9.375 --every 3.125 --rest --quiet)
film=(--frames "$work/frames" --movie "$results/collision-film.png" --frame-every 0.09375 --size 640 360 --orbit 0 20)
status=0
"${run[@]}" "${film[@]}" 2>"$work/said" || status=$?
case $status in
  0)
    cp "$work/frames/frame-0022.png" "$results/collision.png"
    printf '\nThe column dE/|E| is the error of the energy. In %s:\n' "$results"
    printf '  collision.png       a picture, of the time 2.06\n'
    printf '  collision-film.png  a film of 4 s, an animated PNG: open it in a browser\n'
    if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
      printf '\nThe collision in a window, in which the mouse moves the camera:\n  %s %s %s --rest --viewer\n' \
        "$nbody" "$results/collision.txt" "${steps[*]}"
    fi ;;
  3)  # nothing here draws, or nbody was built without pictures
    "${run[@]}"
    printf '\nThe column dE/|E| is the error of the energy. There is no picture: %s\n' "$(cat "$work/said")" ;;
  *) cat "$work/said" >&2; exit $status ;;
esac
