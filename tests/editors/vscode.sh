#!/usr/bin/env bash
# Packs the extension of Visual Studio Code, unpacks it, and runs it under Node.js with a stand-in of the editor's API.
# Skipped without Node.js. Usage: vscode.sh COMMAND SOURCE_FOLDER
set -euo pipefail
command=$(realpath "$1") source_folder=$(realpath "$2")
node=$(command -v node || command -v nodejs) || { echo "there is no node: skipped (./dev setup installs it)"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 "$source_folder/editors/make_vsix.py" "$scratch/nbcc.vsix"
python3 -m zipfile -e "$scratch/nbcc.vsix" "$scratch/vsix"
python3 - "$scratch/vsix" <<'PYTHON'
import json, pathlib, sys, xml.etree.ElementTree as tree
root = pathlib.Path(sys.argv[1])
package = json.loads((root / "extension/package.json").read_text())
identity = tree.parse(root / "extension.vsixmanifest").find(".//{*}Identity").attrib
assert identity["Id"] == package["name"] and identity["Version"] == package["version"], identity
types = {one.attrib["Extension"] for one in tree.parse(root / "[Content_Types].xml").getroot()}
files = [path for path in root.rglob("*") if path.is_file()]
assert {path.suffix for path in files if path.name != "[Content_Types].xml"} <= types, types
contributes = package["contributes"]
named = [package["main"]] + [one["path"] for one in contributes["grammars"]]
named += [one["configuration"] for one in contributes["languages"]]
for path in named:
    assert (root / "extension" / path).is_file(), path
PYTHON
NODE_PATH=$source_folder/tests/editors/stand_in timeout 120 "$node" "$source_folder/tests/editors/vscode_test.js" "$command" \
  "$scratch/vsix/extension"
