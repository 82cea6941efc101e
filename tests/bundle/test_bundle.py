"""A bundle is whole, in one form, and says what its records carry; anything else is refused."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import random
import shutil
import subprocess
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from backproof import bundle, cli
from backproof.bundle import envelope
from backproof.bundle.archive import InvalidBundleError, read_archive, write_archive
from backproof.bundle.redacted import encode_json
from backproof.bundle.statement import PREDICATE_TYPE, TYPE
from backproof.core.errors import HostError, PlanError
from backproof.rundir import loaded_run
from backproof.rundir.ledger import sha256_of
from backproof.stages import REGISTRY
from backproof.upstream.publish import Loaded
from backproof.verdict import run_verdict
from click.testing import CliRunner
from plain_job import make_job
from stories import Folder, plan, proved

if TYPE_CHECKING:
    from collections.abc import Callable

Files = dict[str, bytes]
SECRET = "s3cret-of-the-environment"  # noqa: S105 - made up


def loaded(folder: Folder) -> Loaded:
    ledger = folder.save()
    said = run_verdict.summarise_run(folder.run, ledger, REGISTRY)
    ledger.save_run(said)
    ledger.log_event("start")
    told = run_verdict.read_evidence(ledger, loaded_run.before_report(said, REGISTRY), REGISTRY)
    return Loaded(ledger=ledger, plan=plan(), story=replace(told, run=run_verdict.judge_run(told)), said=said)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    return bundle.make_bundle(loaded(proved(tmp_path / "run")), tmp_path / "run.tar.gz").file


def inside(file: Path) -> Files:
    return read_archive(envelope.open_sealed(file), most=1000)


def forged(file: Path, change: Callable[[Files], None]) -> Path:
    """As somebody would who knows how to seal, and keeps the manifest right."""
    files = inside(file)
    change(files)
    manifest = json.loads(files["manifest.json"])
    for each in manifest["files"]:
        if each["path"] in files:
            data = files[each["path"]]
            each["sha256"], each["size"] = hashlib.sha256(data).hexdigest(), len(data)
    files["manifest.json"] = encode_json(manifest)
    file.write_bytes(envelope.seal(write_archive(files)))
    return file


def test_a_real_run_is_verified_where_nothing_of_it_is_left(tmp_path: Path) -> None:
    job = make_job(tmp_path / "made here")
    assert job.run().returncode == 0
    done = job.backproof("bundle", str(job.run_folder), "--out", "one.tar.gz")
    assert done.returncode == 0, done.stderr
    assert job.backproof("bundle", str(job.run_folder), "--out", "two.tar.gz").returncode == 0
    file = job.folder / "one.tar.gz"
    assert file.read_bytes() == (job.folder / "two.tar.gz").read_bytes()
    assert sha256_of(file) in done.stdout
    head = json.loads((job.run_folder / "fixup" / "fixup.json").read_text())["head"]
    original = sha256_of(job.run_folder / "validate" / "validate.json")
    away = tmp_path / "there"
    away.mkdir()
    shutil.move(file, away / "b.tar.gz")
    for gone in (job.run_folder, job.kit, job.upstream.folder, job.target.folder):
        shutil.rmtree(gone)
    told = job.backproof("bundle", "--verify", str(away / "b.tar.gz"), HOME=str(away))
    assert told.returncode == 0, told.stderr
    assert "PASS at level 2 (checked on a CPU)" in told.stdout
    assert "to the byte" in told.stdout
    subprocess.run(["tar", "-xzf", "b.tar.gz"], cwd=away, check=True)
    comment = job.backproof("bundle", "--comment", "--verify", str(away / "b.tar.gz"))
    assert comment.stdout == (away / "run" / "comment.md").read_text()
    statement = json.loads((away / "statement.json").read_text())
    assert (statement["_type"], statement["predicateType"]) == (TYPE, PREDICATE_TYPE)
    assert statement["subject"][0]["digest"]["gitCommit"] == head
    assert {each["name"] for each in statement["subject"][1:]} == {"src/demo/ops/conv.py", "src/demo/ops/rows.py"}
    assert all(set(each["digest"]) == {"gitBlob", "sha256"} for each in statement["subject"][1:])
    predicate = statement["predicate"]
    assert (predicate["outcome"], predicate["level"], predicate["signed"]) == (
        "pass",
        {"number": 2, "name": "checked on a CPU"},
        False,
    )
    listed = {each["path"]: each for each in json.loads((away / "manifest.json").read_text())["files"]}
    entry = listed["run/validate/validate.json"]
    assert entry["original_sha256"] == original
    for path, each in listed.items():
        assert sha256_of(away / path) == each["sha256"]
    everything = b"".join(path.read_bytes() for path in away.rglob("*") if path.is_file() and path.suffix != ".gz")
    assert str(tmp_path).encode() not in everything


def test_any_altered_byte_is_refused(made: Path) -> None:
    data = made.read_bytes()
    dice = random.Random(7)  # noqa: S311 - a repeatable choice
    places = [*range(120), *range(len(data) - 20, len(data)), *dice.sample(range(len(data)), 300)]
    for place in places:
        altered = bytearray(data)
        altered[place] ^= 1 << dice.randrange(8)
        made.write_bytes(altered)
        with pytest.raises(HostError, match="does not verify"):
            bundle.verify_bundle(made)
    for cut in (data[:-1], data[:1000], b"", data + b"\0", data + data, data[:-100] + data[-99:]):
        made.write_bytes(cut)
        with pytest.raises(HostError, match="does not verify"):
            bundle.verify_bundle(made)
    made.write_bytes(data)
    assert bundle.verify_bundle(made).same_comment


def _replace(name: str, old: bytes, new: bytes) -> Callable[[Files], None]:
    def change(files: Files) -> None:
        assert old in files[name]
        files[name] = files[name].replace(old, new)

    return change


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_replace("run/comment.md", b"emulated", b"device  "), "comment.md is not what the records"),
        (_replace("statement.json", b'"number": 2', b'"number": 4'), "statement.json is not what the records"),
        (lambda files: files.pop("run/run.json"), "differ: run/run.json"),
        (_replace("run/pick/pick.json", b"a" * 40, b"f" * 40), "statement.json is not what"),
        (_replace("run/validate/validate.json", b'"observed": "pass"', b'"observed": "fail"'), "is not what"),
        (lambda files: files.update({"run/more.txt": b"more"}), "differ: run/more.txt"),
        (lambda files: files.update({"run/run.json": b"{}"}), "run.json: "),
        (lambda files: files.update({"plan.json": b"[" * 100_000}), "plan.json: "),
    ],
)
def test_a_forger_who_seals_again_must_still_agree_with_the_records(
    made: Path, change: Callable[[Files], None], why: str
) -> None:
    with pytest.raises(HostError) as caught:
        bundle.verify_bundle(forged(made, change))
    assert why in caught.value.why


def test_a_manifest_that_is_altered_and_sealed_again_is_refused(made: Path) -> None:
    """All but what no reader can know: the version that wrote it, and the original of a file that no stage registered."""
    data = bytearray(envelope.open_sealed(made))
    entries = bundle.verify_bundle(made).manifest.files
    start, end = data.index(b'"run": '), data.index(b"]\n", data.index(b'"files": '))
    named = bundle.verify_bundle(made).replayed.recorded_paths
    fields = [f'"original_sha256": "{each.original_sha256}"' for each in entries if each.path not in named]
    unknown = {data.find(field.encode()) + index for field in fields for index in range(len(field))}
    places = random.Random(5).sample(range(start, end), 150)  # noqa: S311 - a repeatable choice
    for place in set(places) - unknown:
        altered = data.copy()
        altered[place] ^= 1
        made.write_bytes(envelope.seal(bytes(altered)))
        with pytest.raises(HostError, match="does not verify"):
            bundle.verify_bundle(made)


def _member(name: str, kind: bytes = tarfile.REGTYPE, data: bytes = b"x") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, "/etc/passwd" if kind != tarfile.REGTYPE else ""
    info.size = len(data) if kind == tarfile.REGTYPE else 0
    return info


@pytest.mark.parametrize(
    ("name", "kind", "why"),
    [
        ("../escaped", tarfile.REGTYPE, "not a plain path"),
        ("/etc/cron.d/x", tarfile.REGTYPE, "not a plain path"),
        ("run/../../x", tarfile.REGTYPE, "not a plain path"),
        ("run//x", tarfile.REGTYPE, "not a plain path"),
        ("./x", tarfile.REGTYPE, "not a plain path"),
        ("run\\x", tarfile.REGTYPE, "not a plain path"),
        ("run/x\n", tarfile.REGTYPE, "not a plain path"),
        ("run/link", tarfile.SYMTYPE, "a link"),
        ("run/link", tarfile.LNKTYPE, "a link"),
        ("run/device", tarfile.CHRTYPE, "a device"),
        ("run/pipe", tarfile.FIFOTYPE, "a device"),
        ("run/folder", tarfile.DIRTYPE, "a folder"),
        ("run/sparse", tarfile.GNUTYPE_SPARSE, "something else than regular files"),
        ("run/contiguous", tarfile.CONTTYPE, "something else than regular files"),
        ("run/old", tarfile.AREGTYPE, "something else than regular files"),
        ("run/headers", tarfile.XHDTYPE, "something else than regular files"),
        ("run/headers", tarfile.XGLTYPE, "something else than regular files"),
        ("n" * 300, tarfile.REGTYPE, "something else than regular files"),
    ],
)
def test_other_archives_are_refused(tmp_path: Path, name: str, kind: bytes, why: str) -> None:
    plain, file = tmp_path / "plain.tar", tmp_path / "b.tar.gz"
    with tarfile.open(plain, "w") as archive:
        archive.addfile(_member(name, kind), io.BytesIO(b"x"))
    file.write_bytes(envelope.seal(plain.read_bytes()))
    with pytest.raises(HostError) as caught:
        bundle.verify_bundle(file)
    assert why in caught.value.why


@pytest.mark.parametrize("size", [b"\x80" + bytes(3) + b"\xff" * 8, b"\xff" * 12, b"77777777777\0", b"not a size\0\0"])
def test_sizes_that_no_file_has_are_refused(tmp_path: Path, size: bytes) -> None:
    data = bytearray(write_archive({"run/a": b"1", "run/b": b"2"}))
    data[124:136] = size
    checksum = sum(data[:148]) + 8 * ord(" ") + sum(data[156:512])
    data[148:156] = b"%06o\0 " % checksum
    (tmp_path / "b.tar.gz").write_bytes(envelope.seal(bytes(data)))
    with pytest.raises(HostError, match="does not verify"):
        bundle.verify_bundle(tmp_path / "b.tar.gz")


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "plain.tar", "w", format=tarfile.USTAR_FORMAT) as archive:
        archive.addfile(_member("run/\udcff"), io.BytesIO(b"x"))
    with pytest.raises(InvalidBundleError, match="no archive"):
        read_archive((tmp_path / "plain.tar").read_bytes(), most=9)


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/null", "pipe"])
def test_what_never_ends_is_no_bundle(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = CliRunner().invoke(cli.cli, ["bundle", "--verify", str(tmp_path / name)])
    assert isinstance(done.exception, PlanError)
    assert "not a regular file" in str(done.exception)


def test_every_python_writes_the_same_bytes() -> None:
    """A bundle of one machine is verified on another, by whatever tarfile is there."""
    archive = write_archive({"run/run.json": b"{}\n", f"{'folder/' * 20}name": b"1" * 513, "ä": b""})
    assert hashlib.sha256(archive).hexdigest() == "3457e907a34addd95ca931c71b8326344e5a4e77bb1b25c56929461480be12dc"


def test_what_hides_in_padding_order_or_doubles_is_refused(made: Path) -> None:
    data = envelope.open_sealed(made)
    first = len(inside(made)["manifest.json"])
    hidden = bytearray(data)
    hidden[512 + first] ^= 65  # behind the end of the first file
    owner = bytearray(data)
    owner[100:107] = b"0004755"
    for strange in (bytes(hidden), bytes(owner), data + b"x" * 512, data + bytes(512), data[:-512]):
        made.write_bytes(envelope.seal(strange))
        with pytest.raises(HostError, match="does not verify"):
            bundle.verify_bundle(made)
    made.write_bytes(envelope.seal(write_archive({"a": b"1"})[:1024] + write_archive({"a": b"1"})))
    with pytest.raises(HostError) as caught:
        bundle.verify_bundle(made)
    assert "twice" in caught.value.why


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(envelope, "LARGEST", 1_000_000)
    file = tmp_path / "b.tar.gz"
    file.write_bytes(envelope.seal(bytes(2_000_000)))
    assert file.stat().st_size < 10_000
    with pytest.raises(HostError) as caught:
        bundle.verify_bundle(file)
    assert "unpacks to more than" in caught.value.why
    file.write_bytes(bytes(1_000_001))
    with pytest.raises(HostError) as caught:
        bundle.verify_bundle(file)
    assert "more than 1000000 bytes" in caught.value.why
    file.write_bytes(envelope.seal(write_archive({f"f{index}": b"" for index in range(1_900)})[:900_000]))
    monkeypatch.setattr("backproof.bundle.check.MOST_FILES", 100)
    with pytest.raises(HostError) as caught:
        bundle.verify_bundle(file)
    assert "more than 100 files" in caught.value.why


def test_redaction_says_both_hashes_and_breaks_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", SECRET)
    monkeypatch.setenv("HOME", "/hm")
    folder = proved(tmp_path / "run")
    text = f"token {SECRET}; /home/ann/x; /hm/y; /hmm; 10.1.2.3; ann@example.org\n"
    note = folder.proof("validate/note.log", text, "what it printed")
    broken = folder.proof("validate/broken.json", f'{{"a": "{SECRET}"', "cut")
    folder.stage("triage", evidence=(note, broken))
    file = bundle.make_bundle(loaded(folder), tmp_path / "b.tar.gz").file
    found = inside(file)
    assert found["run/validate/note.log"] == b"token ***; /home/USER/x; ~/y; /hmm; ADDRESS; MAIL\n"
    assert SECRET.encode() not in b"".join(found.values())
    entry = next(each for each in bundle.verify_bundle(file).manifest.files if each.path == "run/validate/note.log")
    assert entry.redacted
    assert entry.original_sha256 == note.sha256
    assert entry.sha256 == hashlib.sha256(found["run/validate/note.log"]).hexdigest() != note.sha256
    assert bundle.verify_bundle(file).replayed.loaded.run.level == 2


def test_a_patch_keeps_its_authors_so_that_it_still_applies(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "run")
    folder.pick()
    folder.fixup("From: Ann <ann@example.org>\n+host = '10.0.0.1'\n")
    found = inside(bundle.make_bundle(loaded(folder), tmp_path / "b.tar.gz").file)
    assert found["run/fixup/backport.mbox"] == b"From: Ann <ann@example.org>\n+host = '10.0.0.1'\n"


def left_out(verified: bundle.VerifiedBundle) -> set[str]:
    """Evidence that run.json names and the bundle has not."""
    return set(verified.replayed.recorded_paths) - {each.path for each in verified.manifest.files}


def test_evidence_that_was_altered_before_is_carried_as_not_established(tmp_path: Path) -> None:
    folder = proved(tmp_path / "run")
    run = loaded(folder)
    (folder.path / "verify" / "complete.json").write_text("altered")
    (folder.path / "verify" / "reached.json").unlink()
    told = run_verdict.read_evidence(run.ledger, loaded_run.before_report(run.said, REGISTRY), REGISTRY)
    late = replace(run, story=replace(told, run=run_verdict.judge_run(told)))
    verified = bundle.make_bundle(late, tmp_path / "b.tar.gz").verified
    assert verified.replayed.loaded.run.outcome == "error"
    assert verified.replayed.loaded.altered == {"verify/complete.json", "verify/reached.json"}
    assert left_out(verified) == {"run/verify/reached.json"}
    predicate: dict[str, Any] = json.loads(inside(tmp_path / "b.tar.gz")["statement.json"])["predicate"]
    assert (predicate["outcome"], predicate["level"]["number"]) == ("error", 0)


@pytest.mark.parametrize("path", ["../outside.txt", "/etc/hostname"])
def test_evidence_outside_the_run_folder_is_never_read(tmp_path: Path, path: str) -> None:
    folder = proved(tmp_path / "run")
    (tmp_path / "outside.txt").write_text("private")
    fine = folder.proof("validate/a.txt", "a", "a")
    folder.stage("triage", evidence=(fine.model_copy(update={"path": path}),))
    with pytest.raises(HostError, match="no bundle"):
        bundle.make_bundle(loaded(folder), tmp_path / "b.tar.gz")
    assert not (tmp_path / "b.tar.gz").exists()


def test_a_link_in_the_run_folder_is_missing_and_not_followed(tmp_path: Path) -> None:
    folder = proved(tmp_path / "run")
    (tmp_path / "outside.txt").write_text("private")
    fine = folder.proof("validate/a.txt", "private", "a")
    (folder.path / "validate" / "a.txt").unlink()
    (folder.path / "validate" / "a.txt").symlink_to(tmp_path / "outside.txt")
    folder.stage("triage", evidence=(fine,))
    verified = bundle.make_bundle(loaded(folder), tmp_path / "b.tar.gz").verified
    assert left_out(verified) == {"run/validate/a.txt"}


def test_no_bundle_of_a_run_that_is_at_work(tmp_path: Path) -> None:
    run = loaded(proved(tmp_path / "run"))
    with run.ledger.hold_lock(), pytest.raises(HostError, match="another run works"):
        bundle.make_bundle(run, tmp_path / "b.tar.gz")


def test_other_programs_read_it(made: Path) -> None:
    with tarfile.open(made) as archive:
        names = archive.getnames()
        assert {each.mode for each in archive.getmembers()} == {0o644}
    assert names == sorted(inside(made))
    assert gzip.decompress(made.read_bytes()) == envelope.open_sealed(made)
    long = {f"{'folder/' * 20}{'n' * 80}.json": b"1", "ä.txt": b"2"}
    assert read_archive(write_archive(long), most=2) == long
    with pytest.raises(InvalidBundleError, match="too long"):
        write_archive({"n" * 101: b""})


def test_a_manifest_that_names_a_file_twice_is_refused(made: Path) -> None:
    files = inside(made)
    manifest = json.loads(files["manifest.json"])
    manifest["files"].insert(0, {**manifest["files"][0], "sha256": "0" * 64})
    files["manifest.json"] = encode_json(manifest)
    made.write_bytes(envelope.seal(write_archive(files)))
    with pytest.raises(HostError) as caught:
        bundle.verify_bundle(made)
    assert "twice" in caught.value.why


def test_names_that_redaction_makes_one_are_not_merged(tmp_path: Path) -> None:
    folder = proved(tmp_path / "run")
    both = [folder.proof(f"validate/home/{name}.txt", "x", "x") for name in ("ann", "bob")]
    folder.stage("triage", evidence=tuple(both))
    with pytest.raises(HostError) as caught:
        bundle.make_bundle(loaded(folder), tmp_path / "b.tar.gz")
    assert "two evidence files" in caught.value.why
