"""The short form of a job or model in Redis, whose whole record is in an archive.

What lists show is compressed with a preset dictionary. It is stored in pieces of 64 bytes, because a server
keeps a hash without longer values in one allocation: otherwise a record would need half as much again.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from itertools import count

from worker.store import codecs

Record = dict[bytes, bytes]

_FORMAT = b"\x01"  # the first byte; a new dictionary needs a new one
_PIECE = 64  # bytes; `hash-max-listpack-value` of a server
_MAX_PIECES = 64  # a longer record is stored in one piece
_WINDOW = -15  # raw deflate, without a header and a checksum
# Texts that records have in common. What is most common is last. It must never change.
_DICTIONARY = (
    b'"validation":{"kind":"fraction","fraction":0.2,"seed":0,"stratify":true,"column":null,"value":null}'
    b'"sweep":{"sweep_id":"swp_","setting":null,"fold":null,"folds":{"kind":"folds","folds":5,"seed":0,'
    b'"stratify":true,"repeats":1},"test":null,"changepoint_ratio":null}'
    b'{"code":"INTERNAL","message":"Its worker was lost 5 times in a row without progress, so the job was '
    b'not retried."}{"code":"DATA","message":"{"code":"MEMORY","message":"'
    b"CANCELLEDFAILEDUSER_CANCELERRORWORKER_LOSTGAP_REACHEDEXPANSION_LIMITMEMORY_LIMITNO_IMPROVEMENT"
    b'USER_FINISHTIME_LIMITwidening"class_weight":"balanced""categories":"subsets"'
    b'"csv_style":{"delimiter":",","decimal":".","quote":"\\"","missing":["","NA","nan"]}'
    b'{"dataset":"ds_","first_incumbent_at":"17950016","started_at":"17950016","queued_at":"17950016",'
    b'"created_at":"17950016","memory":"1183860","elapsed":"0.1","states_live":"1","expansions":"45",'
    b'"incumbents":"2","revision":"6","model_revision":"2","model_id":"mdl_","priority":"0","chosen":"",'
    b'"error":"","stage":"0","seconds_left":"0.0","explored":"1.0","space":"adaptive",'
    b'"proven_space":"adaptive","stop_reason":"PROVEN_OPTIMAL","proven_optimal":"1","objective":"1.0",'
    b'"upper":"1.0","lower":"1.0","scores":"{\\"train_accuracy\\":0.,\\"validation_accuracy\\":null,'
    b'\\"train_balanced_accuracy\\":0.,\\"validation_balanced_accuracy\\":null,\\"train_log_loss\\":0.,'
    b'\\"validation_log_loss\\":null,\\"train_macro_f1\\":0.,\\"validation_macro_f1\\":null,'
    b'\\"train_roc_auc\\":0.,\\"validation_roc_auc\\":null,\\"leaves\\":8,\\"changepoints\\":5}",'
    b'"settings":"{\\"name\\":null,\\"tags\\":{},\\"priority\\":0,\\"limits\\":{\\"time_limit\\":60.0,'
    b'\\"max_expansions\\":null,\\"memory_limit\\":null,\\"gap\\":0.0,\\"gap_absolute\\":0.0,'
    b'\\"patience\\":null}}","spec":"{\\"id\\":\\"job_\\",\\"tenant\\":\\"default\\",'
    b'\\"dataset_id\\":\\"ds_\\",\\"dataset_sha256\\":\\"\\",\\"cores\\":1,\\"parent_job_id\\":null,'
    b'\\"parameters\\":{\\"max_depth\\":3,\\"max_changepoints\\":2,\\"split_penalty\\":0.0,'
    b'\\"changepoint_penalty\\":0.0,\\"min_samples_leaf\\":1,\\"probability_smoothing\\":0.5,'
    b'\\"candidates\\":\\"adaptive\\",\\"candidate_leaves\\":17,\\"or_selection\\":\\"mixed\\",'
    b'\\"and_selection\\":\\"round_robin\\",\\"heuristic\\":\\"cart\\",\\"criterion\\":\\"gini\\",'
    b'\\"polish\\":true,\\"class_weight\\":null,\\"categories\\":\\"ordered\\",\\"n_threads\\":1},'
    b'\\"validation\\":null,\\"target\\":\\"label\\",\\"csv_style\\":null,'
    b'\\"engine_version\\":\\"0.2.0.dev0\\"}"}'
)
# Fields that scripts read or clients change. They stay as they are.
_PLAIN_OF_JOBS = (b"tenant", b"seq", b"state", b"finished_at", b"asked", b"ended_epoch", b"sweep")
_PLAIN_OF_MODELS = (b"tenant", b"seq", b"incumbent")
_CHANGEABLE_OF_MODELS = (b"name", b"notes", b"tags")
# `blob` is the saved search, which may be deleted at any time; the script keeps it.
_LISTED_OF_JOBS = {*codecs.JOB_SUMMARY, b"dataset"} - {*_PLAIN_OF_JOBS, b"blob"}
_LISTED_OF_MODELS = {*codecs.MODEL_SUMMARY} - {*_PLAIN_OF_MODELS, *_CHANGEABLE_OF_MODELS}


def text(value: bytes) -> str:
    """Return bytes of the store as text, from which `data` makes the same bytes whatever they are."""
    return value.decode(errors="surrogateescape")


def data(value: str) -> bytes:
    return value.encode(errors="surrogateescape")


def short_form(kind: str, record: Mapping[bytes, bytes]) -> Record:
    """Return the fields that stay in Redis of an archived record."""
    is_job = kind == "job"
    plain = _PLAIN_OF_JOBS if is_job else _PLAIN_OF_MODELS
    listed = _LISTED_OF_JOBS if is_job else _LISTED_OF_MODELS
    found = {name: value for name, value in record.items() if name in listed}
    if not found.get(b"scores") and record.get(b"metrics"):  # version 0.1.0 had them among the metrics
        found[b"scores"] = codecs.scores_of(json.loads(record[b"metrics"])).model_dump_json().encode()
    return {name: record[name] for name in plain if record.get(name)} | _pieces(found)


def long_form(record: Mapping[bytes, bytes]) -> Record:
    """Return the fields of a record in Redis, including those that are compressed in it."""
    if b"z0" not in record:
        return dict(record)
    names = (b"z%d" % number for number in count())
    pieces = []
    while (piece := record.get(next(names))) is not None:
        pieces.append(piece)
    packed = b"".join(pieces)
    if packed[:1] != _FORMAT:
        raise ValueError("a record was archived by a later version of Literati")
    fields = json.loads(zlib.decompressobj(_WINDOW, zdict=_DICTIONARY).decompress(packed[1:]))
    plain = {name: value for name, value in record.items() if not _is_piece(name)}
    return {name.encode(): data(value) for name, value in fields.items()} | plain


def _pieces(fields: Mapping[bytes, bytes]) -> Record:
    decoded = {name.decode(): text(value) for name, value in sorted(fields.items(), key=_place)}
    plain = json.dumps(decoded, separators=(",", ":")).encode()
    packer = zlib.compressobj(9, zlib.DEFLATED, _WINDOW, 9, zlib.Z_DEFAULT_STRATEGY, _DICTIONARY)
    packed = _FORMAT + packer.compress(plain) + packer.flush()
    size = _PIECE if len(packed) <= _PIECE * _MAX_PIECES else len(packed)
    starts = range(0, len(packed), size)
    return {b"z%d" % number: packed[start : start + size] for number, start in enumerate(starts)}


def _place(field: tuple[bytes, bytes]) -> int:
    """Order the fields as in the dictionary, so that what lies between two of them is common too."""
    return _DICTIONARY.rfind(b'"' + field[0] + b'":')


def _is_piece(name: bytes) -> bool:
    return name[:1] == b"z" and name[1:].isdigit()
