"""Git under whet: worktrees of its own, a checkout that is only read, and names that strangers chose."""

from __future__ import annotations

import subprocess

import pytest
from repositories import commit, git, repository

from whet.agents.repository.applying import applied
from whet.core.errors import UsageError
from whet.evaluators.repository.changes import changed_functions
from whet.evaluators.repository.revisions import Checkout

FILES = {"pkg/a.py": "def f(x):\n    return x\n\n\ndef g(x):\n    return x\n", ".gitignore": "*.so\n*.log\nbuilt/\n"}


@pytest.fixture
def root(tmp_path):
    return repository(tmp_path / "code", FILES)


def test_what_is_no_checkout_with_a_commit_is_refused_in_one_line(tmp_path, root):
    plain, empty, bare = tmp_path / "plain", tmp_path / "empty", tmp_path / "bare"
    plain.mkdir()
    empty.mkdir()
    git(empty, "init", "--quiet")
    git(tmp_path, "clone", "--quiet", "--bare", str(root), str(bare))
    for folder, why in ((plain, "not in a git repository"), (empty, "no commits yet"), (bare, "bare repository")):
        with pytest.raises(UsageError, match=why) as error:
            Checkout.open(folder)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["--help", "-n1", "", " ", "nothing", "HEAD~9", "a\nb", "HEAD^{tree}", "--output=x"])
def test_a_name_that_is_no_revision_is_refused(root, name):
    with pytest.raises(UsageError, match="no revision"):
        Checkout.open(root).commit(name)


def test_branches_tags_and_hashes_are_revisions_on_a_detached_head_too(root):
    first = git(root, "rev-parse", "HEAD").strip()
    git(root, "tag", "v1")
    commit(root, {"pkg/a.py": "x = 1\n"})
    git(root, "checkout", "--quiet", "--detach")
    checkout = Checkout.open(root / "pkg")
    assert checkout.commit("v1") == checkout.commit(first[:10]) == first
    assert checkout.head == git(root, "rev-parse", "HEAD").strip()
    assert checkout.root == root / "pkg"
    assert checkout.text(first, "a.py") == FILES["pkg/a.py"]


def test_commits_are_made_beside_the_checkout_which_stays_as_it_is(root, tmp_path):
    (root / "pkg/a.py").write_text("mine = 1\n")
    (root / "note.txt").write_text("mine")
    index = (root / ".git/index").read_bytes()
    checkout = Checkout.open(root)
    assert sorted(checkout.uncommitted()) == ["note.txt", "pkg/a.py"]
    with checkout.worktree(tmp_path / "home" / "tree", checkout.head) as tree:
        assert tree.file("pkg/a.py").read_text() == FILES["pkg/a.py"]
        tree.file("pkg/a.py").write_text("faster = 1\n")
        made = tree.commit(["pkg/a.py"], "faster\n\nTold.")
        checkout.set_branch("run-1", made)
        tree.file("pkg/a.py").write_text("broken")
        tree.reset(made)
        assert tree.file("pkg/a.py").read_text() == "faster = 1\n"
    assert git(root, "show", "whet/run-1:pkg/a.py") == "faster = 1\n"
    assert (root / "pkg/a.py").read_text() == "mine = 1\n"
    assert (root / ".git/index").read_bytes() == index
    assert git(root, "worktree", "list").count("\n") == 1


def test_a_worktree_that_a_killed_run_left_is_used_again(root, tmp_path):
    checkout, place = Checkout.open(root), tmp_path / "tree"
    checkout.open_worktree(place, checkout.head).file("pkg/a.py").write_text("half of a change")
    assert checkout.open_worktree(place, checkout.head).file("pkg/a.py").read_text() == FILES["pkg/a.py"]
    subprocess.run(["rm", "-r", str(place)], check=True)
    assert checkout.open_worktree(place, checkout.head).file("pkg/a.py").is_file()
    checkout.remove_worktree(place)
    assert not place.exists()


def test_built_extensions_beside_tracked_code_come_along(root, tmp_path):
    for name in ("pkg/fast.so", "pkg/noise.log", "built/far.so"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(b"built")
    checkout = Checkout.open(root)
    with checkout.worktree(tmp_path / "tree", checkout.head) as tree:
        assert tree.file("pkg/fast.so").read_bytes() == b"built"
        assert not tree.file("pkg/noise.log").exists()
        assert not tree.file("built/far.so").exists()


def test_nothing_that_a_repository_configures_is_started(root, tmp_path):
    mark = tmp_path / "started"
    hook = f"#!/bin/sh\ntouch {mark}\n"
    for name in ("pre-commit", "post-checkout", "post-commit", "reference-transaction"):
        path = root / ".git/hooks" / name
        path.write_text(hook)
        path.chmod(0o755)
    monitor = tmp_path / "monitor"
    monitor.write_text(hook)
    monitor.chmod(0o755)
    git(root, "config", "core.fsmonitor", str(monitor))
    mark.unlink(missing_ok=True)
    checkout = Checkout.open(root)
    checkout.uncommitted()
    with checkout.worktree(tmp_path / "tree", checkout.head) as tree:
        tree.file("pkg/a.py").write_text("x = 2\n")
        checkout.set_branch("run", tree.commit(["pkg/a.py"], "x"))
    assert not mark.exists()


def test_a_link_out_of_the_repository_is_not_written_through(root, tmp_path):
    outside = tmp_path / "outside.py"
    outside.write_text("mine")
    (root / "link.py").symlink_to(outside)
    (root / "away").symlink_to(tmp_path)
    commit(root, {})
    checkout = Checkout.open(root)
    with checkout.worktree(tmp_path / "tree", checkout.head) as tree:
        for name in ("link.py", "away/outside.py", "../tree-2"):
            with pytest.raises(UsageError, match="leads out"):
                tree.file(name)


def test_wins_are_applied_where_the_file_is_as_committed(root, tmp_path):
    checkout = Checkout.open(root)
    head = checkout.head
    commit(root, {"b.py": "b = 1\n"})
    with checkout.worktree(tmp_path / "tree", head) as tree:
        tree.file("pkg/a.py").write_text("faster = 1\n")
        tip = tree.commit(["pkg/a.py"], "x")
    assert applied(checkout, head, tip, ["pkg/a.py"]) == ["applied to pkg/a.py"]
    assert (root / "pkg/a.py").read_text() == "faster = 1\n"
    assert "already" in applied(checkout, head, tip, ["pkg/a.py"])[0]
    (root / "pkg/a.py").write_text("mine = 1\n")
    assert "changes of its own" in applied(checkout, head, tip, ["pkg/a.py"])[0]
    assert (root / "pkg/a.py").read_text() == "mine = 1\n"


def test_functions_whose_text_differs_are_found(root):
    checkout = Checkout.open(root)
    before = checkout.head
    text = "# a comment\ndef f(x):\n    return x\n\n\ndef g(x, y=1):\n    return x + y\n\n\ndef new():\n    return 1\n"
    commit(root, {"pkg/a.py": text, "broken.py": "def (", "notes.md": "x"})
    found = {one.target: (one.before, one.after) for one in changed_functions(checkout, before, checkout.head)}
    assert found == {"pkg/a.py::g": (("x",), ("x", "y=")), "pkg/a.py::new": (None, ())}
    below = Checkout.open(root / "pkg")
    assert [one.target for one in changed_functions(below, before, below.head)] == ["a.py::g", "a.py::new"]


def test_the_base_of_two_branches_is_found_or_said_to_be_lacking(root):
    checkout = Checkout.open(root)
    base = checkout.head
    commit(root, {"c.py": "c = 1\n"})
    assert checkout.merge_base(base, "HEAD") == base
    git(root, "checkout", "--quiet", "--orphan", "other")
    commit(root, {"d.py": "d = 1\n"})
    with pytest.raises(UsageError, match="no common ancestor"):
        checkout.merge_base(base, "HEAD")


def test_a_merge_that_is_not_over_stays_as_it_is(root, tmp_path):
    git(root, "branch", "other")
    commit(root, {"pkg/a.py": "a = 1\n"})
    git(root, "checkout", "--quiet", "other")
    commit(root, {"pkg/a.py": "a = 2\n"})
    with pytest.raises(subprocess.CalledProcessError):
        git(root, "merge", "-")
    marked = (root / "pkg/a.py").read_text()
    assert "<<<<<<<" in marked
    checkout = Checkout.open(root)
    head = checkout.head
    assert checkout.uncommitted() == ("pkg/a.py",)
    with checkout.worktree(tmp_path / "tree", head) as tree:
        assert tree.file("pkg/a.py").read_text() == "a = 2\n"
        tree.file("pkg/a.py").write_text("faster = 1\n")
        tip = tree.commit(["pkg/a.py"], "x")
    assert "changes of its own" in applied(checkout, head, tip, ["pkg/a.py"])[0]
    assert (root / "pkg/a.py").read_text() == marked
    assert (root / ".git/MERGE_HEAD").is_file()


def test_binary_files_hold_no_functions(root, tmp_path):
    checkout = Checkout.open(root)
    before = checkout.head
    (root / "pkg/a.py").write_bytes(b"def f(x):\n    return '\xff'\n")
    (root / "image.png").write_bytes(bytes(range(256)))
    commit(root, {})
    assert checkout.text(checkout.head, "pkg/a.py") is None
    found = changed_functions(checkout, before, checkout.head)
    assert [(one.target, one.after) for one in found] == [("pkg/a.py::f", None), ("pkg/a.py::g", None)]
    assert applied(checkout, before, checkout.head, ["pkg/a.py"]) == [
        "not applied: pkg/a.py is no plain file here; the branch has it"
    ]
    with checkout.worktree(tmp_path / "tree", checkout.head) as tree:
        assert tree.file("image.png").read_bytes() == bytes(range(256))
