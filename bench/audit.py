"""Reads real commit messages as an audit reads a pull request: which original do they name, and what do they claim?

    tox run -e bench-audit -- --repo PATH --name OWNER/NAME [--show]

Asked are the messages of all refs, each once, that have the number of another pull request near "cherry-pick" or "backport".
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from pathlib import Path

from backproof.adapters.git.command import checked, run_git
from backproof.adapters.github.references import find_original_pull, parse_subject
from backproof.upstream.audit.claims import find_claims

_WORD = r"(?:cherry[- ]?pick|back[- ]?port)"
_NUMBER = r"(?:#|/pull/|pr )"
_NEAR = re.compile(rf"{_WORD}[^\n]{{0,60}}?{_NUMBER}\d|(?:#|/pull/)\d+[^\n]{{0,60}}{_WORD}", re.IGNORECASE)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repo", type=Path, required=True, help="a clone with all its refs")
    parser.add_argument("--name", required=True, help="owner/name on GitHub")
    parser.add_argument("--show", action="store_true", help="print what names no original, and each claim")
    args = parser.parse_args()
    asked = [(text, own) for text, own in map(split_number, read_messages(args.repo)) if _NEAR.search(text)]
    unnamed = [text for text, own in asked if find_original_pull(text, but=own, repo=args.name) is None]
    claims = [claim for text, _ in asked for claim in find_claims(text, None)]
    if args.show:
        for text in unnamed:
            print("no original:", " / ".join(text.splitlines()[:4])[:300])
        for claim in claims:
            print(f"{', '.join(claim.kinds)}: {claim.quote[:200]}")
    kinds = Counter(kind for claim in claims for kind in claim.kinds)
    print(f"claims {len(claims)}: {', '.join(f'{kind} {count}' for kind, count in kinds.most_common())}")
    print(
        f"messages {len(asked)}, without an original {len(unnamed)} ({100 * len(unnamed) / max(1, len(asked)):.1f} %)"
    )
    return 0 if asked else 1


def read_messages(repo: Path) -> list[str]:
    """Return each message once."""
    done = checked(run_git("-C", str(repo), "log", "--all", "--format=%B%x00"), "the messages cannot be read")
    return list(dict.fromkeys(part.strip() for part in done.text.split("\0") if part.strip()))


def split_number(message: str) -> tuple[str, int | None]:
    """Return a message without the number behind its subject, and that number: it is the message's own pull request.

    A pick keeps the number of its original there; its text then says so.
    """
    subject, _, body = message.partition("\n")
    own = parse_subject(subject).pull
    text = f"{re.sub(rf' ?[(]#{own}[)]$', '', subject.strip())}\n{body}"
    is_original = own and re.search(rf"{_WORD}[^\n]{{0,60}}(?:#|/pull/){own}\b", text, re.IGNORECASE)
    return text, None if is_original else own


if __name__ == "__main__":
    sys.exit(main())
