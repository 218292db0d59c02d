import pathlib
import tempfile
import unittest

import citations

PAGE = """# A page

## What a reader does

```sh run
# no heading
```

### `datasets`, `files`

[there](#what-a-reader-does), [nowhere](#gone), [elsewhere](other.md#gone)
"""


class CitationsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        (root / "docs").mkdir()
        (root / "docs/page.md").write_text(PAGE)
        (root / "docs/other.md").write_text("# Another\n")
        self.pages = citations.Pages(root, ["docs/page.md", "docs/other.md", "sdk/NOTICE.txt"])

    def complaints(self, text, file="sdk/code.cc"):
        return citations.complaints(file, text, self.pages)

    def test_a_document_that_is_not_there_is_named_with_its_place(self):
        self.assertEqual(
            self.complaints("int a;\n// PLAN.md section 7.\n"),
            ["sdk/code.cc:2: cites PLAN.md, which is not a file of the repository"],
        )

    def test_documents_are_found_from_the_root_from_docs_and_from_the_citing_file(self):
        self.assertEqual(self.complaints("// docs/page.md, page.md, ../docs/page.md, NOTICE.txt"), [])
        for word in ("gone.md", "docs/gone.md", "docs/gone.rst", "LIMITS.txt", "notes/limits.txt"):
            with self.subTest(word):
                self.assertEqual(len(self.complaints(f"# See {word}.")), 1)

    def test_file_names_of_programs_are_no_citations(self):
        for text in ('Read(folder + "/NOTES.txt")', "limits.txt", "CMakeLists.txt", "https://example.org/PLAN.md"):
            with self.subTest(text):
                self.assertEqual(self.complaints(text), [])

    def test_a_heading_that_the_page_does_not_have_is_named(self):
        complaint = 'sdk/code.cc:1: cites docs/page.md, "No heading", and the page has no such heading'
        self.assertEqual(self.complaints('// (docs/page.md, "No heading")'), [complaint])
        self.assertEqual(self.complaints('// docs/page.md, "What a reader does"; "datasets, files"'), [])
        self.assertEqual(self.complaints('// docs/page.md, "datasets, files".'), [])
        self.assertEqual(len(self.complaints('// docs/page.md, "what a reader does"')), 1)

    def test_a_heading_may_stand_on_the_next_line_of_a_comment(self):
        for mark in ("//", "///", "#", " *", ""):
            with self.subTest(mark):
                self.assertEqual(self.complaints(f'{mark} docs/page.md,\n{mark} "What a\n{mark} reader does"'), [])
                self.assertEqual(len(self.complaints(f'{mark} docs/page.md,\n{mark} "What a\n{mark} writer does"')), 1)

    def test_an_escaped_heading_is_one(self):
        self.assertEqual(len(self.complaints(r'static_assert(a, "docs/page.md, \"Gone\"");')), 1)

    def test_anchors_of_links_are_headings(self):
        self.assertEqual(
            self.complaints(PAGE, "docs/page.md"),
            [
                "docs/page.md:11: cites other.md#gone, and the page has no such heading",
                "docs/page.md:11: links to #gone, and the page has no such heading",
            ],
        )

    def test_comments_in_shell_blocks_are_no_headings(self):
        self.assertEqual(citations.headings(PAGE), ["A page", "What a reader does", "datasets, files"])


if __name__ == "__main__":
    unittest.main()
