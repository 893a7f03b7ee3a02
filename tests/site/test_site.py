"""The site of the documentation in Chromium: links and anchors, search, gallery, highlighting, no other hosts. Each run
builds the site into a scratch folder, so that it is that of the present sources. Run by run.sh."""

import functools
import http.server
import json
import os
import pathlib
import re
import shutil
import string
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

SOURCE = pathlib.Path(os.environ["NBCC_SOURCE_DIR"])
SECONDS = 60  # for what a page does by itself, on a machine that runs other tests too

# Words of a search -> pages. One of these pages must be among the first three results.
SEARCHES = {
    "nearest_image": ["reference/built_ins.html", "reference/language.html", "how_to/periodic_boxes.html"],
    "torch.compile": ["how_to/transform_with_torch_and_jax.html"],
    "stokeslet": ["pipelines/stokeslet.html"],
    "carry_pairs": ["api/nbcc.html", "reference/python.html", "programs/granular.html"],
    "multiprocessing": ["how_to/send_and_save.html"],
    "pair statistics": ["how_to/pair_statistics.html"],
    "capacitance of a cube": ["programs/capacitance.html"],
}

# The browser reads all pages: their ids, and the absolute addresses of links, pictures and scripts.
COLLECT = """
const [pages, done] = arguments;
async function collect(page) {
  const text = await (await fetch(page)).text();
  const parsed = new DOMParser().parseFromString(text, "text/html");
  const targets = new Set();
  for (const name of ["href", "src", "data-src", "srcset", "action"])
    for (const element of parsed.querySelectorAll(`[${name}]`))
      if (!(element.tagName === "FORM" && name === "action"))
        targets.add(new URL(element.getAttribute(name), page).href + "\\n" + element.tagName);
  const ids = [...parsed.querySelectorAll("[id], a[name]")].map((element) => element.id || element.name);
  return [page, ids, [...targets]];
}
Promise.all(pages.map(collect)).then(done, (error) => done(String(error)));
"""


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def start_browser():
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for word in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--window-size=1400,1000",
    ):
        options.add_argument(word)
    # Chromium's own requests, for updates and the like.
    for word in ("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(tempfile.mkdtemp(prefix="nbcc-site-"))
        cls.addClassCleanup(shutil.rmtree, cls.scratch, ignore_errors=True)
        # The texts before the build, because a page may change while the test runs.
        cls.docs = {path: path.read_text(encoding="utf-8") for path in (SOURCE / "docs").rglob("*.md")}
        mkdocs = pathlib.Path(sys.executable).with_name("mkdocs")
        words = [
            mkdocs,
            "build",
            "--strict",
            "-f",
            SOURCE / "site" / "mkdocs.yml",
            "-d",
            cls.scratch / "site",
        ]
        done = subprocess.run(words, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(f"the site cannot be built:\n{done.stdout}{done.stderr}")
        cls.folder = cls.scratch / "site"
        handler = functools.partial(QuietHandler, directory=cls.folder)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        cls.root = f"http://127.0.0.1:{server.server_port}/"
        cls.browser = start_browser()
        cls.addClassCleanup(cls.browser.quit)
        cls.browser.set_script_timeout(60)
        cls.pages = sorted(path.relative_to(cls.folder).as_posix() for path in cls.folder.rglob("*.html"))

    def open(self, page, root=None):
        self.browser.get((root or self.root) + page)

    def wait(self, condition, what):
        return WebDriverWait(self.browser, SECONDS, poll_frequency=0.05).until(lambda _: condition(), what)

    def test_01_links_and_anchors(self):
        self.assertGreater(len(self.pages), 150)
        self.open("index.html")
        found = self.browser.execute_async_script(COLLECT, [self.root + page for page in self.pages])
        self.assertIsInstance(found, list, found)
        ids = {page: set(names) for page, names, _ in found}
        faults, links, anchors = [], 0, 0
        for page, _, targets in found:
            for target, element in (word.split("\n") for word in targets):
                address, _, anchor = target.partition("#")
                anchor = urllib.parse.unquote(anchor)
                if not address.startswith(self.root):
                    # Other hosts are for readers who follow a link; pages load nothing from there.
                    if element != "A" and not address.startswith("data:"):
                        faults.append(f"{page}: <{element.lower()}> loads {address}")
                    continue
                links += 1
                file = self.folder / urllib.parse.unquote(address[len(self.root) :])
                if not file.is_file() and not (file / "index.html").is_file():
                    faults.append(f"{page}: the link to {address} leads nowhere")
                elif anchor and not anchor.startswith("__"):  # such are Material's own, in parts that are hidden
                    anchors += 1
                    if anchor not in ids.get(address, ()):
                        faults.append(f"{page}: {address} has no #{anchor}")
        self.assertGreater(links, 5000)
        self.assertGreater(anchors, 500)
        self.assertFalse(faults, "\n".join(faults[:50]))

    def test_02_pages_load_without_errors_or_other_hosts(self):
        """All pages in turn; of sources, pipelines and decisions, which are many of one kind, every 20th."""
        many = [page for page in self.pages if page.startswith(("source/", "pipelines/", "decisions/"))]
        opened = [page for page in self.pages if page not in many] + many[::20]
        # Each page would build the index of the search in a worker, which takes longer than all else.
        no_worker = {"source": "window.Worker = class extends EventTarget { postMessage() {} };"}
        script = self.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", no_worker)
        self.addCleanup(self.browser.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument", script)
        self.browser.get_log("performance"), self.browser.get_log("browser")
        faults = []
        for page in opened:
            self.open(page)
            faults += self.pictures_that_did_not_load(page)
            faults += self.pipelines_without_colours(page)
        hosts = set()
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                hosts.add(urllib.parse.urlsplit(message["params"]["request"]["url"])[:2])
        self.assertEqual(
            {host for host in hosts if host[0] not in ("data", "blob")},
            {("http", urllib.parse.urlsplit(self.root).netloc)},
        )
        self.assertFalse(self.errors_of_console())
        self.assertFalse(faults, "\n".join(faults))

    def errors_of_console(self):
        """Up to 5 errors and warnings since the last call."""
        return [entry for entry in self.browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")][:5]

    def pictures_that_did_not_load(self, page):
        script = (
            "return [...document.images].filter((image) => !(image.complete && image.naturalWidth)).map((i) => i.src)"
        )
        return [f"{page}: {picture} was not loaded" for picture in self.browser.execute_script(script)]

    def pipelines_without_colours(self, page):
        script = """return [...document.querySelectorAll(".language-pipe")].filter(
            (block) => !block.querySelector("code span.k, code span.kd, code span.kt, code span.nb, code span.bp")
        ).map((block) => block.textContent)"""
        return [f"{page}: no colours in {text[:60]!r}" for text in self.browser.execute_script(script)]

    def test_03_blocks_of_docs_are_pipelines(self):
        for path, text in self.docs.items():
            page = self.folder / path.relative_to(SOURCE / "docs").with_suffix(".html")
            page = page.with_name("index.html") if path.name == "README.md" else page
            blocks = re.findall(r"^```pipe\b.*\n((?:.*\n)*?)^```", text, re.MULTILINE)
            html = page.read_text(encoding="utf-8")
            self.assertEqual(html.count("language-pipe "), len(blocks), f"{page}: pipelines")
            self.assertNotRegex(html, r"needs:\w", f"{page}: a word for tests/docs/snippets.py")
            self.assertNotRegex(html, r"<p>```", f"{page}: a fence that is text")
            outside = re.sub(r"<pre.*?</pre>", "", html, flags=re.DOTALL)
            self.assertNotRegex(outside, r"<code>[^<]*\\\|", f"{page}: a backslash in a table")
            self.assertNotRegex(outside, r"(?m)^- ", f"{page}: a list that is text")

    def search(self, words):
        """The addresses of the results, in order, for words typed into the search."""
        box = self.browser.find_element(By.CSS_SELECTOR, ".md-search__input")
        self.browser.execute_script("document.querySelector('.md-search__input').focus()")
        box.send_keys(Keys.CONTROL, "a")
        box.send_keys(Keys.DELETE)
        box.send_keys(words)
        meta = ".md-search-result__meta"
        listed = "return [...document.querySelectorAll('.md-search-result__link')].map((link) => link.href)"
        started = time.monotonic()
        self.wait(
            lambda: re.search(r"match|No |\d", self.browser.find_element(By.CSS_SELECTOR, meta).text), "no results"
        )
        addresses = self.browser.execute_script(listed)
        while True:  # results of the words before may be shown for a moment
            time.sleep(0.3)
            now = self.browser.execute_script(listed)
            if now == addresses or time.monotonic() - started > SECONDS:
                return now
            addresses = now

    def test_04_search_finds_pages(self):
        self.open("index.html")
        for words, pages in SEARCHES.items():
            with self.subTest(words=words):
                paths = [urllib.parse.urlsplit(address).path.lstrip("/") for address in self.search(words)]
                first = list(dict.fromkeys(paths))[:3]
                self.assertTrue(set(first) & set(pages), f"{words}: expected one of {pages}, got {first}")
        # lunr's index makes words up where words of the pages end in some digits; a search for their beginning fails.
        for letter in string.ascii_lowercase:
            self.search(letter)
        self.assertEqual(self.search("qqzzxxkk"), [])
        self.search("stokeslet")
        self.browser.find_element(By.CSS_SELECTOR, ".md-search-result__link").click()
        self.wait(lambda: "stokeslet.html" in self.browser.current_url, "the first result does not open")
        self.assertIn("stokeslet", self.browser.find_element(By.TAG_NAME, "h1").text)
        self.assertFalse(self.errors_of_console())

    def test_05_search_from_a_folder(self):
        """Without a server: the pages are opened as files."""
        self.open("how_to/scipy.html", self.folder.as_uri() + "/")
        found = self.search("stokeslet")
        self.assertTrue(
            found and found[0].startswith((self.folder / "pipelines" / "stokeslet.html").as_uri()), found[:3]
        )

    def test_06_gallery(self):
        self.open("gallery.html")
        script = """return [...document.querySelectorAll(".gallery-pictures img")].map(
            (image) => [image.src, image.naturalWidth, image.getBoundingClientRect().width, image.alt])"""
        pictures = self.browser.execute_script(script)
        shown = {pathlib.PurePosixPath(urllib.parse.urlsplit(picture[0]).path).name for picture in pictures}
        wanted = {
            path.name for folder in ("programs/pictures", "pictures") for path in (SOURCE / "docs" / folder).iterdir()
        }
        self.assertEqual(shown, wanted)
        for address, natural, width, alt in pictures:
            self.assertGreater(natural, 0, address)
            self.assertGreater(width, 100, address)
            self.assertTrue(alt, address)
        script = """return [...document.querySelectorAll(".gallery-pipelines .tabbed-block")].map((block) => [
            block.querySelector("p > a").textContent, block.querySelector("code").textContent,
            block.querySelectorAll("code .kd, code .kt, code .nb").length])"""
        blocks = self.browser.execute_script(script)
        self.assertGreater(len(blocks), 15)
        for name, text, tokens in blocks:
            self.assertEqual(text.strip(), (SOURCE / name).read_text(encoding="utf-8").strip(), name)
            self.assertGreater(tokens, 3, name)
        # The second of several pipelines is shown after a click on its name.
        label = self.browser.find_element(By.CSS_SELECTOR, ".tabbed-labels label:nth-of-type(2)")
        second = self.browser.find_element(By.CSS_SELECTOR, ".tabbed-content .tabbed-block:nth-of-type(2)")
        self.assertFalse(second.is_displayed())
        self.browser.execute_script("arguments[0].click()", label)
        self.wait(second.is_displayed, "a click on the name of a pipeline shows nothing")

    def test_07_narrow_and_dark(self):
        self.addCleanup(self.browser.set_window_size, 1400, 1000)
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})
        metrics = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        for page in (
            "index.html",
            "gallery.html",
            "how_to/complex_kernels.html",
            "reference/language.html",
            "api/nbcc.html",
        ):
            self.open(page)
            wide = self.browser.execute_script("return document.documentElement.scrollWidth")
            self.assertLessEqual(wide, metrics["width"], f"{page} is wider than a phone")
        scheme = "return document.body.getAttribute('data-md-color-scheme')"
        before = self.browser.execute_script(scheme)
        self.browser.execute_script("document.querySelector('[data-md-component=palette] label:not([hidden])').click()")
        self.wait(lambda: self.browser.execute_script(scheme) != before, "the colours do not change")

    def test_08_interface_has_every_public_name(self):
        """Of the Python package, with a signature; names in docs/ link there."""
        text = (SOURCE / "bindings" / "python" / "nbcc" / "__init__.py").read_text(encoding="utf-8")
        names = re.findall(r'"(\w+)"', re.search(r"__all__ = \[(.*?)\]", text, re.DOTALL).group(1))
        html = (self.folder / "api" / "nbcc.html").read_text(encoding="utf-8")
        self.assertGreater(len(names), 10)
        for name in (*names, "Pipeline.call", "Pipeline.bind", "Pipeline.info"):
            self.assertIn(f'id="nbcc.{name}"', html)
        for page, anchor in {
            "torch": "nbcc.torch.Module",
            "mpi": "nbcc.mpi.spread",
            "lammps": "nbcc.lammps.pair_force",
        }.items():
            self.assertIn(f'id="{anchor}"', (self.folder / "api" / f"nbcc.{page}.html").read_text(encoding="utf-8"))
        self.open("api/nbcc.html#nbcc.compile")
        script = """const terms = [];
            let at = document.getElementById("nbcc.compile");
            while ((at = at.nextElementSibling).tagName !== "H2")
                terms.push(...[...at.querySelectorAll("dt")].map((term) => term.textContent));
            return terms;"""
        terms = self.browser.execute_script(script)
        self.assertTrue({"path", "source", "device", "precision"} <= set(terms), terms)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(f"Site.{name}" if name.startswith("test") else name for name in sys.argv[1:])])
