"""What a type of node is to one who cuts: as the language's row says, else by its name."""

import re
from dataclasses import astuple, dataclass, replace

from splitters.language import Language
from splitters.syntax import Node

SECTION = "section"
HEADED = frozenset({SECTION, "stage"})
"""Kinds that go on to the next of theirs."""
TEXTS = re.compile("string|comment|heredoc|fenced|code_block|raw_text|template_literal|regex")
LISTS = re.compile("concatenated|list")
BODIES = re.compile("(^|_)(body|block)$|^body_|^declarations$")
CLOSING = re.compile("end_tag|ETag|closing|_end$|^compound_statement$")
LEADING = re.compile("start_tag|STag|opening|attribute_|annotation|decorator|modifier|comment")
LOOSE = re.compile("assignment|expression|variable|lexical|call|^declaration$")
"""Types that declare something only now and then, and are statements otherwise."""
COMMENT = re.compile("comment", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Role:
    """What all nodes of one type are."""

    declares: bool
    """It may be a declaration, or wrap one."""
    firm: bool
    """It nearly always does."""
    leads: bool
    """It belongs to what is below it, as a comment does."""
    attached: bool
    """It does so in whatever field it is."""
    clause: bool
    """Several of one name in a row are one declaration."""
    opens: bool
    """It only holds declarations."""
    whole: bool
    """It is a natural piece, whatever it declares."""
    titles: bool
    """It may be a heading: all that follows is under it."""
    holds: bool
    """It holds a heading and what is under it."""
    closes: bool
    """It belongs to what is above it, as a bracket does, or a block after a macro of C."""
    comments: bool
    """It is a comment, which a blank line may part from what is below."""
    between: bool
    """It may be nothing but the blanks between others."""
    text: bool
    """Nothing in it is syntax, whatever the grammar sees there."""
    body: bool
    """It is most of what is around it, and no item there."""
    quick: bool
    """It is none of the latter, an item, a statement, a declaration, a string in a list; or it is
    a comment or the like, no heading."""
    bare: bool
    """It is quick, and there is nothing about it to be noted: no text, no comment, no clause."""


class Roles(dict[int, Role]):
    """The roles of a language's nodes, by the number of their type; each is found out once."""

    def __init__(self, language: Language) -> None:
        super().__init__()
        self.language = language

    def of(self, node: Node) -> Role:
        """The role of a node."""
        number = node.kind_id
        role = self.get(number)
        if role is None:
            role = self[number] = _role(node.type, node.is_named, self.language)
        return role


_roles: dict[str, Roles] = {}


def roles_of(language: Language) -> Roles:
    """The roles of a language's nodes; they are kept."""
    found = _roles.get(language.name)
    if found is None or found.language is not language:
        found = _roles[language.name] = Roles(language)
    return found


def _role(kind: str, named: bool, row: Language) -> Role:
    declares = kind in row.kinds or kind in row.wrappers
    titles = row.kinds.get(kind) in HEADED
    role = Role(
        declares=declares,
        firm=declares and not LOOSE.search(kind),
        leads=kind in row.attached or titles or bool(LEADING.search(kind)),
        attached=kind in row.attached,
        titles=titles,
        holds=kind == SECTION and not titles,
        closes=bool(CLOSING.search(kind)),
        comments=bool(COMMENT.search(kind)),
        clause=kind in row.clauses,
        opens=kind in row.holders,
        whole=kind in row.wholes,
        between=kind == "CharData",
        text=bool(TEXTS.search(kind)) and not LISTS.search(kind),
        body=bool(BODIES.search(kind)) and not declares,
        quick=False,
        bare=False,
    )
    odd = replace(role, declares=False, firm=False, text=False, clause=False)
    waits = role.leads and not (role.titles or role.between or role.body)
    quick = named and (waits or not any(astuple(odd)))
    bare = quick and not (role.text or role.leads or role.clause)
    return replace(role, quick=quick, bare=bare)
