#!/usr/bin/env bash
# Opens a pipeline in Neovim, without a screen, with the configuration of docs/how_to/editors.md, and lets it ask `nbcc lsp`.
# Skipped without Neovim. Usage: neovim.sh COMMAND
set -euo pipefail
command=$(realpath "$1") here=$(dirname "$(realpath "$0")")
command -v nvim >/dev/null || { echo "there is no nvim: skipped (./dev setup installs it)"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
ln -s "$command" "$scratch/bin/nbcc"
# The configuration is the block of the page.
awk '/^```lua/ { inside = 1; next } /^```/ { inside = 0 } inside' "$here/../../docs/how_to/editors.md" >"$scratch/init.lua"
grep -q "'nbcc', 'lsp'" "$scratch/init.lua" || { echo "docs/how_to/editors.md has no configuration for Neovim"; exit 1; }
cat >"$scratch/force.pipe" <<'PIPE'
input_i real xi;
input_j real xj;
output(sum) real s;
real d = xj - xi;
s += sqr(d * d);
PIPE
PATH=$scratch/bin:$PATH HOME=$scratch XDG_CONFIG_HOME=$scratch XDG_DATA_HOME=$scratch XDG_STATE_HOME=$scratch \
  timeout 60 nvim --headless -u "$scratch/init.lua" "$scratch/force.pipe" -c "luafile $here/neovim.lua" >"$scratch/out" 2>&1 ||
  { cat "$scratch/out"; exit 1; }
cat "$scratch/out"
grep -q "all is well" "$scratch/out"
