"""Hosts by exact name and port."""

import pytest

from sandbox.gateway.hosts import BUNDLES, AllowList, Place, place


@pytest.mark.parametrize(
    ("entry", "allowed", "refused"),
    [
        (
            "example.org",
            ["example.org:443", "example.org:80"],
            ["example.org:22", "a.example.org:443"],
        ),
        ("example.org:8443", ["example.org:8443"], ["example.org:443", "example.org:80"]),
        ("EXAMPLE.org.", ["Example.Org:443", "example.org.:443"], ["example.org..evil:443"]),
        ("*.example.org", ["a.example.org:443", "a.b.example.org:80"], ["example.org:443"]),
        ("*.example.org:81", ["a.example.org:81"], ["a.example.org:80", "aexample.org:81"]),
        ("10.1.2.3", ["10.1.2.3:443"], ["10.1.2.30:443", "10.1.2.3.example:443"]),
        ("[2001:db8::1]:8080", ["[2001:db8::1]:8080"], ["[2001:db8::1]:443"]),
        ("pypi", ["pypi.org:443", "files.pythonhosted.org:443"], ["pypi:443", "evil-pypi.org:443"]),
    ],
)
def test_an_entry_allows_exactly_what_it_says(entry, allowed, refused):
    listed = AllowList.of([entry])
    assert [text for text in allowed if not listed.allows(place(text))] == []
    assert [text for text in refused if _read(text) and listed.allows(_read(text))] == []


def _read(text):
    try:
        return place(text)
    except ValueError:
        return None


NO_ENTRIES = """
* *. .org a/b https://example.org example.org/x user@example.org exa*mple.org example.org:0
example.org:65536 example.org:https a..b bücher.de
"""


@pytest.mark.parametrize("entry", ["", "a b", *NO_ENTRIES.split()])
def test_what_is_no_host_is_refused_with_the_bundles_named(entry):
    with pytest.raises(ValueError, match=r"nor one of the bundles pypi, npm, debian"):
        AllowList.of([entry])


@pytest.mark.parametrize(
    ("entry", "meant"), [("pipy", "pypi"), ("PyPI", "pypi"), ("crate", "crates"), ("git", "github")]
)
def test_a_misspelt_bundle_is_no_host(entry, meant):
    said = rf"'{entry}' is none of the bundles: did you mean {meant}\? A host .* port: {entry}:443"
    with pytest.raises(ValueError, match=said):
        AllowList.of([entry])
    assert AllowList.of([f"{entry}:443"]).allows(place(f"{entry}:443"))


@pytest.mark.parametrize("entry", ["pypi,npm", "example.org, pypi"])
def test_several_in_one_word_are_told_apart(entry):
    with pytest.raises(ValueError, match=f"'{entry}' are several: name each of them by itself"):
        AllowList.of([entry])


@pytest.mark.parametrize("word", ["nexus", "cargo", "db", "localhost"])
def test_a_word_like_no_bundle_is_a_host(word):
    assert AllowList.of([word]).allows(place(f"{word}:443"))


NO_PLACES = """
example.org :443 example.org: example.org:+443 example.org:443:443 a@example.org:443
example.org:٤٤٣ [::1%eth0]:1 ::1:443 example.org\x00:443
"""


@pytest.mark.parametrize("text", ["", *NO_PLACES.split()])
def test_a_place_is_one_host_and_one_port(text):
    with pytest.raises(ValueError, match=r"no (host|port)"):
        place(text)


def test_every_bundle_can_be_read():
    assert all(AllowList.of([name]).places for name in BUNDLES)
    assert AllowList.of(["npm"]).allows(Place("registry.npmjs.org", 443))


def test_nothing_allows_nothing():
    assert not AllowList.of([])
    assert not AllowList.of([]).allows(Place("example.org", 443))
