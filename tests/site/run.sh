#!/usr/bin/env bash
# Builds the site of the documentation into a scratch folder, and tests it in Chromium. Without MkDocs of the build folder,
# Chromium or its driver the tests are skipped. Usage: run.sh SOURCE_FOLDER BUILD_FOLDER [NAME OF A TEST...]
set -euo pipefail
source_folder=$(realpath "$1") build=$(realpath "$2")
python=$build/site-python/bin/python
cmp -s "$source_folder/site/requirements.txt" "$build/site-python/requirements.txt" ||
  { echo "$build/site-python has not the packages of site/requirements.txt: skipped (./dev setup installs them)"; exit 77; }
for program in chromium chromedriver; do
  command -v $program >/dev/null || { echo "there is no $program: skipped (./dev setup installs it)"; exit 77; }
done
export NBCC_SOURCE_DIR=$source_folder PYTHONDONTWRITEBYTECODE=1
exec "$python" "$source_folder/tests/site/test_site.py" "${@:3}"
