#!/usr/bin/env bash
# A folder with Debian packages for arm64 and all that they depend on, for cmake/arm64.cmake: unpacked, not installed, so
# that this system's packages stay as they are.
#
#   bash cmake/arm64_root.sh FOLDER ARCHIVE PACKAGE...     FOLDER/root is made; ARCHIVE: the URI of a Debian archive
set -euo pipefail
folder=$(realpath "$1") archive=$2
shift 2
root=$folder/root apt=$folder/apt
rm -rf "$root" "$apt"
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$root"/usr/{bin,lib,sbin}
for name in bin lib sbin; do ln -s "usr/$name" "$root/$name"; done

# An apt with files of its own, which believes that nothing is installed.
: >"$apt/status"
echo "deb $archive bookworm main" >"$apt/sources.list"
private=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$apt" -o Dir::State::lists="$apt/lists"
  -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" -o Dir::Etc::sourcelist="$apt/sources.list"
  -o Dir::Etc::sourceparts=- -o Debug::NoLocking=1)
apt-get "${private[@]}" update -qq
apt-get "${private[@]}" install -y -qq --no-install-recommends --download-only "$@" >"$folder/apt.log"
for package in "$apt"/cache/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$root"
done
rm -rf "$apt"

# Absolute links point into the root, and the packages' own scripts, which did not run, would make one link.
find "$root" -lname '/*' | while read -r link; do ln -sfnr "$root$(readlink "$link")" "$link"; done
ln -s hdf5-serial.pc "$root/usr/lib/aarch64-linux-gnu/pkgconfig/hdf5.pc"
touch "$folder/root-is-complete"
