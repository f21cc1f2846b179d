from target import add_anchors


def test_a_document_without_headings_stays_as_it_is():
    assert add_anchors(["one", "#two", "```", "# three", "```"], 3) == (["one", "#two", "```", "# three", "```"], "")


def test_a_heading_gets_an_anchor_and_a_line_of_the_contents():
    body, contents = add_anchors(["# The `first` one ##", "text"], 3)
    assert body == ['<a id="the-first-one"></a>', "# The `first` one ##", "text"]
    assert contents == "- [The first one](#the-first-one)\n"


def test_equal_headings_are_numbered_past_names_that_are_taken():
    body, contents = add_anchors(["# a", "# a 1", "# a", "## a"], 1)
    assert [line for line in body if line.startswith("<")] == [f'<a id="{n}"></a>' for n in ("a", "a-1", "a-2", "a-3")]
    assert contents.count("\n") == 3


def test_titles_are_made_fit_for_addresses():
    body, _ = add_anchors(["#  Crème -- brûlée/2 ", "# !?"], 2)
    assert [line for line in body if line.startswith("<")] == ['<a id="creme-brulee-2"></a>', '<a id="section"></a>']
