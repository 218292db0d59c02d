import pathlib
import unittest

import snippets

DOCUMENT = """Text.

```sh run
echo one

echo two
```

1. In a list:

   ```cpp program needs=tbb
   int main() {}
   ```

```cmake file=a/CMakeLists.txt
project(a)
```

````md
```sh
not a block of its own
```
````

```sh
rm -rf /
```
"""


class SnippetsTest(unittest.TestCase):
    def setUp(self):
        self.found = snippets.read(pathlib.Path("guide.md"), DOCUMENT)

    def test_blocks_are_found_with_their_lines_marks_and_text(self):
        summary = [(snippet.line, snippet.language, snippet.mark, snippet.file) for snippet in self.found]
        expected = [
            (3, "sh", "run", ""),
            (11, "cpp", "program", ""),
            (15, "cmake", "", "a/CMakeLists.txt"),
            (19, "md", "", ""),
            (25, "sh", "", ""),
        ]
        self.assertEqual(summary, expected)
        self.assertEqual(self.found[0].text, "echo one\n\necho two\n")

    def test_a_program_says_which_library_it_needs(self):
        self.assertEqual([snippet.needs for snippet in self.found], ["", "tbb", "", "", ""])

    def test_an_indented_block_loses_its_indent(self):
        self.assertEqual(self.found[1].text, "int main() {}\n")

    def test_a_shell_block_without_a_mark_is_complained_about_with_its_place(self):
        complaints = [snippet.complaint for snippet in self.found if snippet.complaint]
        self.assertEqual(len(complaints), 1)
        self.assertIn("guide.md:25", complaints[0])
