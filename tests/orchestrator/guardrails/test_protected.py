"""Which paths are protected, from whom, and how a repository says otherwise."""

import pytest

from orchestrator.guardrails import protected
from orchestrator.guardrails.globs import compile_globs
from orchestrator.outcome import Finding, Verdict
from orchestrator.settings import Policy

BLOCKED = {
    "protected.policy": [
        ".orchestrator.toml",
        ".orchestrator/guardrails/own",
        ".Orchestrator.TOML",
    ],
    "protected.ci": [
        ".github/workflows/ci.yml",
        ".GitHub/Workflows/ci.yml",
        ".github./workflows /ci.yml",
        ".github/actions/setup/action.yml",
        ".github/dependabot.yml",
        ".gitlab-ci.yml",
        ".circleci/config.yml",
        ".travis.yml",
        ".buildkite/pipeline.yml",
        "azure-pipelines.yml",
        "azure-pipelines-release.yaml",
        "bitbucket-pipelines.yml",
        "Jenkinsfile",
        "ci/Jenkinsfile.release",
        "action.yml",
        "tools/action.yaml",
    ],
    "protected.git": [".gitattributes", "docs/.gitattributes", ".gitmodules", ".lfsconfig"],
    "protected.hooks": [
        ".husky/pre-commit",
        ".githooks/post-checkout",
        ".pre-commit-config.yaml",
        "lefthook.yml",
    ],
    "protected.owners": ["CODEOWNERS", ".github/CODEOWNERS", "docs/codeowners"],
    "protected.registry": [
        ".npmrc",
        "web/.yarnrc.yml",
        ".pypirc",
        "pip.conf",
        ".cargo/config.toml",
        "NuGet.Config",
        ".mvn/extensions.xml",
    ],
    "protected.startup": [
        "src/evil.pth",
        "sitecustomize.py",
        "lib/usercustomize.py",
        ".envrc",
        ".bashrc",
        ".gdbinit",
    ],
    "protected.editor": [
        ".vscode/tasks.json",
        ".idea/workspace.xml",
        ".devcontainer/devcontainer.json",
        ".devcontainer.json",
        "app.code-workspace",
    ],
    "protected.agent": [
        "AGENTS.md",
        "sub/agents.md",
        "AGENTS.override.md",
        "CLAUDE.md",
        "CLAUDE.local.md",
        "sub/Claude.MD",
        ".claude/settings.json",
        "sub/.CLAUDE/Settings.json",
        "sub/.mcp.json",
        "sub/.codex/config.toml",
        ".agents/skills/sums/SKILL.md",
        ".codex/config.toml",
        ".mcp.json",
        ".cursor/rules/a.mdc",
        ".github/copilot-instructions.md",
    ],
}

REVIEWED = {
    "review.tests": ["conftest.py", "tests/unit/conftest.py", "pytest.ini", "tox.ini", "setup.cfg"],
    "review.build": ["setup.py", "Makefile", "rules.mk", "Dockerfile", "docker/Dockerfile.dev"],
    "review.dependencies": [
        "package.json",
        "pyproject.toml",
        "uv.lock",
        "yarn.lock",
        "Cargo.lock",
        "package-lock.json",
        "requirements-dev.txt",
        "go.sum",
    ],
    "review.hidden": [".gitignore", "src/.gitignore", ".dockerignore"],
    "review.environment": [".env", "deploy/.env.production"],
    "review.instructions": ["CONTRIBUTING.md", "contributing.md"],
    "review.forge": [".github/ISSUE_TEMPLATE/bug.md", ".github/FUNDING.yml"],
}

HONEST = [
    "src/app.py",
    "tests/test_app.py",
    "docs/index.md",
    "docs/CONTRIBUTING.md",
    "README.md",
    "CHANGELOG.md",
    "src/github/workflows.py",
    "src/actions.yml",
    "lib/makefile_parser.py",
    "src/setup_page.tsx",
    "data/agents.json",
    "docs/claude.txt",
    "src/env.py",
    ".env.example",
    "hooks/useThing.ts",
    "locale/fr/LC_MESSAGES/app.po",
]


def cases(rules):
    return [(rule, path) for rule, paths in rules.items() for path in paths]


def found(difference, **policy):
    return [(f.rule, f.verdict) for f in protected.check(difference, Policy(**policy))]


@pytest.mark.parametrize(("rule", "path"), cases(BLOCKED))
def test_what_acts_behind_the_reviewers_back_is_blocked(change, rule, path):
    assert found(change((path.encode(), b"", b"x"))) == [(rule, "block")]


@pytest.mark.parametrize(("rule", "path"), cases(REVIEWED))
def test_what_acts_in_the_open_is_reviewed(change, rule, path):
    assert found(change((path.encode(), b"", b"x"))) == [(rule, "review")]


def test_an_ordinary_change_passes(change):
    assert found(change(*((path.encode(), b"", b"x") for path in HONEST))) == []


def test_a_finding_says_what_was_done_and_why_it_matters(change):
    assert tuple(protected.check(change((b"CODEOWNERS", b"* @me\n", None)), Policy())) == (
        Finding(
            "protected.owners",
            Verdict.BLOCK,
            "CODEOWNERS",
            "deleted: it says who has to approve what",
        ),
    )


def test_moving_a_protected_file_away_is_taking_it_away(change):
    difference = change((b".pre-commit-config.yaml", b"x", None), (b"old.yaml", None, b"x"))
    assert found(difference) == [("protected.hooks", "block")]


def test_a_link_in_the_place_of_a_protected_folder_counts(change):
    difference = change((b".husky", None, b"elsewhere"), new_mode="120000")
    assert found(difference) == [("protected.hooks", "block")]


def test_a_name_that_is_not_utf8_is_judged_by_its_bytes(change):
    assert found(change((b".husky/\xff", None, b"x"))) == [("protected.hooks", "block")]


def test_a_repository_protects_paths_of_its_own(change):
    difference = change((b"infra/prod/main.tf", b"", b"x"))
    assert found(difference, protected=("infra/**",)) == [("protected.listed", "block")]


def test_a_repository_asks_to_see_paths_of_its_own(change):
    difference = change((b"db/1.SQL", b"", b"x"))
    assert found(difference, review=("*.sql",)) == [("review.listed", "review")]


def test_an_allowed_path_is_left_alone(change):
    assert found(change((b"AGENTS.md", b"", b"x")), allow=("AGENTS.md",)) == []


def test_what_the_repository_protects_itself_is_not_excused(change):
    difference = change((b"AGENTS.md", b"", b"x"))
    found_rules = found(difference, allow=("*.md",), protected=("AGENTS.md",))
    assert found_rules == [("protected.listed", "block")]


def test_the_policy_file_is_never_excused(change):
    difference = change((b".orchestrator.toml", b"", b"x"))
    assert found(difference, allow=("**", "*.toml")) == [("protected.policy", "block")]


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        ("a", "a", True),
        ("a", "x/a/y", True),
        ("/a", "x/a", False),
        ("/a", "a/b", True),
        ("a/b", "a/b/c", True),
        ("a/b", "x/a/b", False),
        ("a/", "x/a/b", True),
        ("*.py", "x/y.PY", True),
        ("a/*/c", "a/b/c", True),
        ("a/*/c", "a/b/b/c", False),
        ("a/**/c", "a/c", True),
        ("a/**/c", "a/b/b/c", True),
        ("**/c", "c", True),
        ("**/b/c", "a/b/c", True),
        ("a/**", "a/b", True),
        ("a/**", "b/a", False),
        ("[ab].c", "b.c", True),
        ("[!ab].c", "b.c", False),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("a.c", "abc", False),
    ],
)
def test_globs_read_like_gitignore(glob, path, fits):
    assert compile_globs(glob).fit(path.encode()) is fits


@pytest.mark.timeout(10)
def test_a_glob_cannot_stall_the_host():
    glob = "/".join(["**", "a*a*a*a*a*a*b"] * 20)
    assert compile_globs(glob).fit(b"/".join([b"a" * 250] * 64)) is False
