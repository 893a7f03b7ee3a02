#!/usr/bin/env bash
# Programs where the sources do not lie at the path at which they were built: an example, and the numeric tests with
# NBCC_SOURCE_DIR.
#
#   tests/elsewhere.sh SOURCES NUMERIC_TESTS KS
#
# The path is hidden by an empty file system in a mount namespace; 77 (skipped) where no such namespace can be had.
set -eu
sources=$1 numeric=$2 ks=$3
if [ "${4:-}" != inside ]; then
  unshare --user --map-root-user --mount mount -t tmpfs none "$sources" 2>/dev/null || {
    echo "skipped: no mount namespace here"
    exit 77
  }
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  cp "$numeric" "$ks" "$0" "$scratch"
  cp -r "$sources/pipelines" "$sources/examples/ks/samples" "$scratch"
  cd "$scratch"
  unshare --user --map-root-user --mount bash "$scratch/${0##*/}" "$sources" "$scratch/${numeric##*/}" \
    "$scratch/${ks##*/}" inside
  exit
fi
mount -t tmpfs none "$sources"
here=$(dirname "$ks")
"$ks" "$here/samples/two.txt" "$here/samples/three.txt"
NBCC_SOURCE_DIR=$here "$numeric" --gtest_filter='*EveryPipeline*gravity_acc:-*OnGpu*' --gtest_brief=1
