#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs_links_test.py BUILD: every link between the pages that are installed leads to a file that is installed, too."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote

LINK = re.compile(r"\]\(<?([^)>\s]+)>?(?:\s+\"[^\"]*\")?\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.M | re.S)


def broken(folder):
    pages = sorted(folder.rglob("*.md"))
    links = [(page, link) for page in pages for link in LINK.findall(CODE.sub("", page.read_text()))]
    inside = [(page, unquote(link.partition("#")[0])) for page, link in links if "://" not in link and not link.startswith(("#", "mailto:"))]
    print(f"{len(pages)} pages, {len(inside)} links")
    if len(pages) < 20 or len(inside) < 50:
        yield "fewer pages or links than there are"
    for page, link in inside:
        if not (page.parent / link).exists():
            yield f"{page.relative_to(folder)}: {link}"


def main():
    build = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="hac-docs-") as root:
        subprocess.run(["cmake", "--install", build, "--component", "doc"], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "DESTDIR": root})
        folder, = Path(root).rglob("share/doc/hac")
        for needed in ("README.md", "docs/opsplit.schema.json", "docs/decisions/README.md"):
            if not (folder / needed).exists():
                sys.exit(f"not installed: {needed}")
        problems = list(broken(folder))
    sys.exit("\n".join(problems) or 0)


if __name__ == "__main__":
    main()
