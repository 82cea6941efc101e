"""What the message of a commit says of other commits: picked from, taken back, caused by, and the pull requests.

Wordings are those of git, GitHub, GitLab, patchback, the kernel, Django and Mercurial. A message is hostile text: it is only
searched, and what it names counts only where the repository has it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backproof.adapters.git import CommitInfo

_HASH = r"\b[0-9a-f]{7,40}\b"
_BETWEEN = r"(?:[\s,;:*&-]|\band\b|\((?!cherry)[^()\n]{0,120}\))"
_HASHES = rf"({_HASH}(?:{_BETWEEN}+{_HASH})*)"
_NAMED = r"\s+(?:the\s+)?(?:upstream\s+|main\s+|master\s+)?(?:commits?|changesets?|revisions?|changes?)?\s*:?[\s*-]*"
_SOURCES = re.compile(
    rf"(?i)(?:(?:cherry[\s-]*pick(?:ed)?|back[\s-]*port(?:ed)?|picked|\breland(?:s|ed)?)\s+(?:of|from)|\breappl(?:y|ies)"
    rf"|\brelands?){_NAMED}{_HASHES}"
    rf"|\bupstream\s+commit\s+{_HASHES}|^\W*commit\s+{_HASHES}\s+upstream\b|\[PR\s+#\d+/({_HASH})\s+back[\s-]*port\]",
    re.MULTILINE,
)
_PARTLY = r"(?<!partially )(?<!partly )"
_BACK = r"(?:\brever(?:t|ts|ted|ting)|\bback(?:s|ed|ing)?[\s-]*out)"
_REVERTED = re.compile(rf"(?i){_PARTLY}{_BACK}{_NAMED}{_HASHES}")
_REVERTED_PULLS = re.compile(
    rf"(?i){_PARTLY}{_BACK}\s+(?:PRs?|pull requests?)?\s*((?:(?:,|\s|and|&)*(?:[\w.-]+/[\w.-]+#|https://[\w.-]+/[\w.-]+/[\w.-]+/pull/|#)\d+\b)+)"
)
_CAUSES = re.compile(
    r"(?i)(?:\bfix(?:es|ed)?(?:\s+up|\s+for)?|\bregress(?:ion|ed)(?:\s+\w+)?\s+(?:in|from|of|by|with|since)|\bintroduced\s+(?:in|by|with)"
    rf"|\b(?:caused|broken)\s+(?:by|in|since)|\bbroke\s+in)\b:?{_NAMED}{_HASHES}"
)
_FOLLOWED = re.compile(rf"(?i)\bfollow(?:s|ing)?[\s-]*up\s+(?:of|to|for|on)\b:?{_NAMED}{_HASHES}")

_MERGED = re.compile(r"(?i)^merge(?:d)? (?:pull request|pr|in \S+ \(pull request) #(\d+)|^merge #(\d+)\b")
_GITLAB = re.compile(r"(?m)^See merge request \S*!(\d+)\s*$")
_OWN_NUMBER = re.compile(r"\(#(\d+)\)\s*$")
_QUOTED = re.compile(
    r"[(\[](?:from |pr )?(#\d+(?:(?:,|\s|and|&)+#\d+)*)(?:/[0-9a-f]+ backport)?[)\]]|(#\d+)\s*$", re.IGNORECASE
)
"""Numbers on their own in a title; in the middle of a sentence they only say what the commit is about."""
_NUMBER = re.compile(r"(?:#|/pull/)(\d+)\b")
_PORTED = re.compile(
    r"(?i)(?:cherry[\s-]*pick\w*|back[\s-]*port\w*|port(?:ed|s)? (?:of|from)|same (?:as|with)|picked from"
    r"|original p(?:r|ull request)|sync\w* from)\W[^\n]{0,80}"
)
_TAGS = re.compile(r"^\s*(?:\[[^\]]*\]\s*|(?:cherry[\s-]*pick|back[\s-]*port)\s*:?\s*)+", re.IGNORECASE)
_NUMBERS = re.compile(r"\((?:from )?#\d+\)")
_VERSION = re.compile(
    r"(?i)(?:\b(?:in|on|for|to|of|from)\s+)?\bv?(\d+\.\d+(?:\.\d+)*(?:rc\d*)?(?:-dev)?)\b(?:\s+branch\b)?"
)
_NO_WORD = re.compile(r"\W+")
_TAKES_BACK = re.compile(r'(?i)^(revert|back(?:ed|s)?[\s-]*out|reapply|reland)\b[\s:]*"?(.*?)"?\s*$', re.DOTALL)
_SHORTEST_TITLE = 15
"""A shorter one ("fix ut") is the title of many changes."""
_LONGEST = 500
_LIST = 6
"""A commit that names more pull requests than this is a release note, and speaks of none."""


@dataclass(frozen=True)
class Relations:
    """What one commit says. Hashes may be abbreviated; whether they name one commit only the repository can say."""

    commit: CommitInfo

    @cached_property
    def title(self) -> str:
        """The subject; for the merge of a pull request its title, which the body begins with. A hostile one is cut."""
        subject = self.commit.subject[:_LONGEST]
        if _MERGED.match(subject) or (len(self.commit.parents) > 1 and _GITLAB.search(self.commit.message)):
            lines = map(str.strip, self.commit.message.split("\n")[1:])
            return next(filter(None, lines), subject)[:_LONGEST]
        return subject

    @cached_property
    def pull(self) -> int | None:
        """The pull request that it came with."""
        subject = self.commit.subject
        match = _OWN_NUMBER.search(subject[-_LONGEST:]) or _MERGED.match(subject[:_LONGEST])
        if match is None and len(self.commit.parents) > 1:
            match = _GITLAB.search(self.commit.message)
        return int(next(filter(None, match.groups()))) if match else None

    @property
    def merges_pull(self) -> bool:
        """Whether it is the merge of a pull request: its first parent is then the main line."""
        return len(self.commit.parents) == 2 and self.pull is not None

    @property
    def authored(self) -> str:
        """Who wrote it and when: a pick keeps both."""
        return f"{self.commit.author} {self.commit.authored}"

    @cached_property
    def sources(self) -> frozenset[str]:
        """Hashes that it says it was picked from, or lands again."""
        return _read_hashes(_SOURCES, self.commit.message)

    @cached_property
    def ported(self) -> frozenset[int]:
        """Pull requests that it says it ports."""
        if self.takes_back:
            return frozenset()
        quoted = " ".join(
            "".join(number) for number in _QUOTED.findall(_OWN_NUMBER.sub("", self.commit.subject[-_LONGEST:]))
        )
        numbers = {int(number) for number in _NUMBER.findall(quoted)}
        for line in self.commit.message.split("\n"):
            if "#" in line or "/pull/" in line:
                numbers |= {int(number) for phrase in _PORTED.findall(line) for number in _NUMBER.findall(phrase)}
        return frozenset(numbers - {self.pull})

    @cached_property
    def takes_back(self) -> bool:
        """Whether its title says that it takes something back; a revert of a revert, and "Reapply", bring it again."""
        odd, title = False, self._bare_title
        while match := _TAKES_BACK.match(title):
            odd ^= match[1].lower() not in {"reapply", "reland"}
            title = match[2]
        return odd

    @property
    def _bare_title(self) -> str:
        return _OWN_NUMBER.sub("", _TAGS.sub("", self.title))

    @cached_property
    def reverted(self) -> frozenset[str]:
        """Hashes that it says it takes back."""
        return _read_hashes(_REVERTED, self.commit.message)

    @cached_property
    def reverted_pulls(self) -> frozenset[int]:
        """Pull requests that it says it takes back."""
        phrases = _REVERTED_PULLS.findall(self.commit.message)
        return frozenset(int(number) for phrase in phrases for number in _NUMBER.findall(phrase))

    @cached_property
    def reverted_title(self) -> str:
        """The plain title that its own quotes as taken back; empty where it quotes none."""
        match = _TAKES_BACK.match(self._bare_title)
        if match is None:
            return ""
        again = match[1].lower() in {"reapply", "reland"}
        return plain_title(f'Revert "{match[2]}"' if again else match[2])

    @cached_property
    def causes(self) -> frozenset[str]:
        """Hashes of commits whose fault it says it repairs."""
        return _read_hashes(_CAUSES, self.commit.message)

    @cached_property
    def followed(self) -> frozenset[str]:
        """Hashes of commits that it says it follows up."""
        return _read_hashes(_FOLLOWED, self.commit.message)

    @cached_property
    def named_pulls(self) -> frozenset[int]:
        """All pull requests that it names, where these are few."""
        numbers = frozenset(map(int, _NUMBER.findall(self.commit.message)))
        return numbers if len(numbers) <= _LIST else frozenset()

    @cached_property
    def change_title(self) -> str:
        """The title without tags, numbers, versions and punctuation; empty when too short to tell changes apart."""
        text = _VERSION.sub(" ", _NUMBERS.sub(" ", _TAGS.sub("", self.title)))
        text = _NO_WORD.sub(" ", text).strip().lower()
        return f"{'revert ' if self.takes_back else ''}{text}" if len(text) >= _SHORTEST_TITLE else ""

    @cached_property
    def versions(self) -> frozenset[str]:
        """The versions in its title: a change with other ones is another change."""
        return frozenset(_VERSION.findall(_TAGS.sub("", self.title)))


def plain_title(title: str) -> str:
    """Return a title as a revert quotes it: without the number of its pull request."""
    return " ".join(_OWN_NUMBER.sub("", title).split()).lower()


def _read_hashes(pattern: re.Pattern[str], message: str) -> frozenset[str]:
    phrases = (phrase for groups in pattern.finditer(message) for phrase in groups.groups() if phrase)
    return frozenset(name.lower() for phrase in phrases for name in re.findall(f"(?i){_HASH}", phrase))
