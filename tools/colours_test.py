import unittest

import colours

TABLE = """
      {"cpu", "#2f6fb0", "#5a9ee0", "CPU in your code", "34"},
      {"onCpu", "#ffffff", "#06121e", "text on `cpu`"},
"""


class ColoursTest(unittest.TestCase):
    def faults(self, text):
        return colours.faults("page.css", text, colours.variables(TABLE))

    def test_names_of_the_table_are_found_as_pages_write_them(self):
        self.assertEqual(colours.variables(TABLE), {"cpu", "on-cpu"})

    def test_a_page_may_name_colours(self):
        self.assertEqual(self.faults("a { color: var(--on-cpu); }\ncolour('cpu'); colour(kind)\n"), [])

    def test_a_colour_of_its_own_is_a_fault(self):
        found = self.faults("a { color: #fff; }\nb { color: #2F6FB0; }")
        self.assertEqual(
            [fault.split(": ")[:2] for fault in found], [["page.css:1", "#fff"], ["page.css:2", "#2F6FB0"]]
        )

    def test_a_name_that_the_table_does_not_have_is_a_fault(self):
        self.assertEqual(len(self.faults("a { color: var(--open); }\nfill(color('d0'));")), 2)

    def test_links_and_entities_are_no_colours(self):
        self.assertEqual(self.faults('<a href="#add-words">&#39;</a> #section&zoom=1 /issues/#123456789'), [])


if __name__ == "__main__":
    unittest.main()
