"""The version of the project is the same wherever it is written: versions.py SOURCE_FOLDER."""

import pathlib
import re
import sys

PLACES = {
    "CMakeLists.txt": r"^project\(nbcc VERSION (\S+)",
    "bindings/python/nbcc/__init__.py": r'^__version__ = "(.+)"',
    "CITATION.cff": r"^version: (\S+)",
    "editors/package.json": r'^  "version": "(.+)"',
    "CHANGELOG.md": r"^## (\d\S*)",  # the newest
}


def main(source):
    versions = {}
    for name, pattern in PLACES.items():
        found = re.search(pattern, (source / name).read_text(encoding="utf-8"), re.MULTILINE)
        versions[name] = found.group(1) if found else None
    if len(set(versions.values())) == 1 and None not in versions.values():
        return 0
    for name, version in versions.items():
        print(f"{name}: {version or 'no version'}")
    return 1


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
