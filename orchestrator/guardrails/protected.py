"""Paths that decide what runs, who may say so, or what is seen: a block, or a look by a person."""

from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.guardrails.globs import compile_globs
from orchestrator.guardrails.guardrail import Difference
from orchestrator.outcome import Finding, Verdict
from orchestrator.patch import Entry
from orchestrator.settings import FILE, Policy


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of protected path."""

    id: str
    verdict: Verdict
    reason: str
    globs: tuple[str, ...]


def check(difference: Difference, policy: Policy) -> Iterator[Finding]:
    """Name every touched path that a rule fits; to take a file away counts like writing it.

    The first fitting rule speaks: the repository's own, then blocks, then reviews.
    """
    rules = _rules(policy)
    for entry in difference.entries:
        rule = next((rule for rule in rules if _fits(rule, entry, policy)), None)
        if rule is not None:
            reason = f"{_DEEDS[entry.status]}: {rule.reason}"
            yield Finding(rule.id, rule.verdict, entry.name, reason)


def is_listed(path: bytes, policy: Policy) -> bool:
    """Whether a list names the path, so that nobody changes it unseen; `allow` excuses not."""
    return any(compile_globs(*rule.globs).fit(path) for rule in _rules(policy))


_DEEDS = {"A": "added", "D": "deleted", "M": "changed", "T": "replaced"}


def _rules(policy: Policy) -> tuple[Rule, ...]:
    listed = f"{FILE} lists it under `protected`"
    looked_at = f"{FILE} lists it under `review`"
    return (
        Rule("protected.listed", Verdict.BLOCK, listed, policy.protected),
        *BLOCKS,
        Rule("review.listed", Verdict.REVIEW, looked_at, policy.review),
        *REVIEWS,
    )


def _fits(rule: Rule, entry: Entry, policy: Policy) -> bool:
    if not compile_globs(*rule.globs).fit(entry.path):
        return False
    return rule not in _EXCUSABLE or not compile_globs(*policy.allow).fit(entry.path)


def _block(id: str, reason: str, globs: str) -> Rule:
    return Rule(id, Verdict.BLOCK, reason, tuple(globs.split()))


def _review(id: str, reason: str, globs: str) -> Rule:
    return Rule(id, Verdict.REVIEW, reason, tuple(globs.split()))


# Blocked: a change here acts before or behind the back of whoever reviews it. It runs with secrets
# that the work never had (CI, registries), runs when a folder is merely opened, entered or checked
# out (editors, shells, hooks, Python's start), or rewrites the rules that the next run and its
# reviewers go by (policy, owners, agents' instructions). Hardly any task needs one; a task that
# does is a reason to write the path under `allow` first.
BLOCKS = (
    _block(
        "protected.policy",
        "it holds the rules that runs are judged by",
        "/.orchestrator.toml /.orchestrator/",
    ),
    _block(
        "protected.ci",
        "CI runs it with the repository's own secrets",
        """
        .github/workflows .github/actions .github/dependabot.y*ml .gitea/workflows
        .forgejo/workflows .gitlab-ci.y*ml .gitlab/ci .circleci .buildkite .woodpecker*
        .drone.y*ml .travis.y*ml .cirrus.y*ml .appveyor.y*ml appveyor.y*ml
        azure-pipelines*.y*ml bitbucket-pipelines.y*ml cloudbuild.y*ml jenkinsfile*
        action.y*ml
        """,
    ),
    _block(
        "protected.git",
        "git itself obeys it: filters, drivers, foreign repositories",
        ".gitattributes .gitmodules .gitconfig .lfsconfig",
    ),
    _block(
        "protected.hooks",
        "it runs on every commit of everybody",
        """
        .husky .githooks .git-hooks .pre-commit-config.y*ml .pre-commit-hooks.y*ml
        lefthook*.y*ml .lefthook* .lintstagedrc* .overcommit.y*ml
        """,
    ),
    _block(
        "protected.owners",
        "it says who has to approve what",
        "CODEOWNERS",
    ),
    _block(
        "protected.registry",
        "it says where packages come from, and with which credentials",
        """
        .npmrc .yarnrc* .pypirc pip.conf pip.ini .netrc .condarc bunfig.toml nuget.config
        .cargo .docker/config.json .mvn
        """,
    ),
    _block(
        "protected.startup",
        "it runs unasked when a shell, an interpreter or a debugger starts here",
        """
        *.pth sitecustomize.py usercustomize.py .envrc .bashrc .bash_profile .profile .zshrc
        .zshenv .gdbinit .lldbinit .exrc .nvimrc .nvim.lua .rprofile .irbrc .pryrc
        """,
    ),
    _block(
        "protected.editor",
        "an editor obeys it when the folder is opened",
        ".vscode .idea .zed .fleet .devcontainer* *.code-workspace .vs",
    ),
    _block(
        "protected.agent",
        "coding agents take their orders or their tools from it",
        """
        AGENTS*.md CLAUDE*.md GEMINI.md .claude .codex .agents .gemini .cursor .cursorrules
        .windsurf* .clinerules* .roo* .continue* .aider* .goosehints .kiro .junie .mcp.json
        mcp.json .github/copilot-instructions.md .github/instructions .github/prompts
        """,
    ),
)

# Reviewed: honest tasks do change these (a new dependency, a new target, a shared fixture), and
# what they do is done in the open, when somebody builds or tests. But each can run code on the
# builder's machine, make red tests green, or hide files, so a person has to see it once. Source,
# tests, documentation and plain data stand in no list: a change of those alone passes.
REVIEWS = (
    _review(
        "review.tests",
        "it decides which tests run and how",
        """
        conftest.py pytest.ini .pytest.ini tox.ini noxfile.py setup.cfg .coveragerc
        jest.config.* vitest.config.* karma.conf.* .mocharc* phpunit.xml* .rspec
        codecov.y*ml
        """,
    ),
    _review(
        "review.build",
        "it runs on the machine of everyone who builds",
        """
        setup.py makefile gnumakefile *.mk justfile rakefile taskfile.y*ml cmakelists.txt
        meson.build configure configure.ac build.rs binding.gyp dockerfile* *.dockerfile
        containerfile* docker-compose*.y*ml compose*.y*ml build.gradle* settings.gradle*
        gradle-wrapper.* pom.xml build.bazel .bazelrc mise.toml .mise.toml .tool-versions
        """,
    ),
    _review(
        "review.dependencies",
        "it decides which foreign code is installed",
        """
        package.json pyproject.toml uv.toml requirements*.txt constraints*.txt
        environment.y*ml pipfile gemfile cargo.toml composer.json go.mod go.sum *.lock
        *.lockb package-lock.json npm-shrinkwrap.json pnpm-lock.yaml
        """,
    ),
    _review(
        "review.hidden",
        "it can keep files out of sight or out of images",
        ".gitignore .dockerignore .npmignore .git-blame-ignore-revs",
    ),
    _review(
        "review.environment",
        "files of this name hold a deployment's settings and often its secrets",
        ".env .env.local .env.prod* .env.staging",
    ),
    _review(
        "review.instructions",
        "our agent is told it",
        "/CONTRIBUTING.md",
    ),
    _review(
        "review.forge",
        "the forge reads it",
        ".github .gitlab .gitea .forgejo",
    ),
)

# The policy file has no excuse: `allow = ["*.toml"]` must not let a run rewrite its own rules.
_EXCUSABLE = frozenset((*BLOCKS, *REVIEWS)) - {BLOCKS[0]}
