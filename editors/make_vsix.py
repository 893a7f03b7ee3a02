"""Packs the files of this folder as an extension of Visual Studio Code, a zip of the layout that `code
--install-extension` takes. Usage: make_vsix.py FILE.vsix"""

import json
import pathlib
import sys
import zipfile
from xml.sax.saxutils import escape, quoteattr

HERE = pathlib.Path(__file__).resolve().parent
ENDINGS = {".json": "application/json", ".js": "application/javascript", ".md": "text/markdown", ".txt": "text/plain",
           ".vsixmanifest": "text/xml"}


def manifest(package):
    return f"""<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id={quoteattr(package["name"])} Version={quoteattr(package["version"])} Publisher={quoteattr(package["publisher"])}/>
    <DisplayName>{escape(package["displayName"])}</DisplayName>
    <Description xml:space="preserve">{escape(package["description"])}</Description>
    <Categories>{escape(",".join(package["categories"]))}</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value={quoteattr(package["engines"]["vscode"])}/>
    </Properties>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code"/>
  </Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
  </Assets>
</PackageManifest>
"""


def content_types():
    rows = "".join(f'<Default Extension="{end}" ContentType="{kind}"/>' for end, kind in ENDINGS.items())
    return ('<?xml version="1.0" encoding="utf-8"?>\n'
            f'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{rows}</Types>\n')


def make(path):
    package = json.loads((HERE / "package.json").read_text(encoding="utf-8"))
    contents = {"[Content_Types].xml": content_types(), "extension.vsixmanifest": manifest(package)}
    for file in sorted(HERE.iterdir()):
        if file.suffix in (".json", ".js"):
            contents["extension/" + file.name] = file.read_text(encoding="utf-8")
    contents["extension/LICENSE.txt"] = (HERE.parent / "LICENSE").read_text(encoding="utf-8")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in contents.items():
            # A fixed time, so that the same files give the same bytes.
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), text, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    make(sys.argv[1])
