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
FIRST_PIECES = tuple(b"z%d" % number for number in range(8))  # of most records all and some more
_WINDOW = -15  # raw deflate, without a header and a checksum
_BETWEEN = b"\x1f"  # between fields; JSON has no such character
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
    b"dataset=ds_\x1ffirst_incumbent_at=17950016\x1fstarted_at=17950016\x1fqueued_at=17950016\x1f"
    b"created_at=17950016\x1fmemory=1183860\x1felapsed=0.1\x1fstates_live=1\x1fexpansions=45\x1f"
    b"incumbents=2\x1frevision=6\x1fmodel_revision=2\x1fmodel_id=mdl_\x1fpriority=0\x1fchosen=\x1f"
    b"error=\x1fstage=0\x1fseconds_left=0.0\x1fexplored=1.0\x1fspace=adaptive\x1f"
    b"proven_space=adaptive\x1fstop_reason=PROVEN_OPTIMAL\x1fproven_optimal=1\x1fobjective=1.0\x1f"
    b'upper=1.0\x1flower=1.0\x1fscores={"train_accuracy":0.,"validation_accuracy":null,'
    b'"train_balanced_accuracy":0.,"validation_balanced_accuracy":null,"train_log_loss":0.,'
    b'"validation_log_loss":null,"train_macro_f1":0.,"validation_macro_f1":null,"train_roc_auc":0.,'
    b'"validation_roc_auc":null,"leaves":8,"changepoints":5}\x1fsettings={"name":null,"tags":{},'
    b'"priority":0,"limits":{"time_limit":60.0,"max_expansions":null,"memory_limit":null,"gap":0.0,'
    b'"gap_absolute":0.0,"patience":null}}\x1fspec={"id":"job_","tenant":"default","dataset_id":"ds_",'
    b'"dataset_sha256":"","cores":1,"parent_job_id":null,"parameters":{"max_depth":3,"max_changepoints":2,'
    b'"split_penalty":0.0,"changepoint_penalty":0.0,"min_samples_leaf":1,"probability_smoothing":0.5,'
    b'"candidates":"adaptive","candidate_leaves":17,"or_selection":"mixed","and_selection":"round_robin",'
    b'"heuristic":"cart","criterion":"gini","polish":true,"class_weight":null,"categories":"ordered",'
    b'"n_threads":1},"validation":null,"target":"label","csv_style":null,"engine_version":"0.2.0.dev0"}'
)
# Fields that scripts read or clients change. They stay as they are.
_PLAIN_OF_JOBS = (b"tenant", b"seq", b"state", b"finished_at", b"asked", b"sweep")
_PLAIN_OF_MODELS = (b"tenant", b"seq", b"incumbent")
_CHANGEABLE_OF_MODELS = (b"name", b"notes", b"tags")
# `blob` is the saved search, which may be deleted at any time; the script keeps it.
_LISTED_OF_JOBS = {*codecs.JOB_SUMMARY, b"dataset"} - {*_PLAIN_OF_JOBS, b"blob"}
# `job` of a model is also in its `spec`.
_LISTED_OF_MODELS = {*codecs.MODEL_SUMMARY} - {*_PLAIN_OF_MODELS, *_CHANGEABLE_OF_MODELS, b"job"}


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
    fields = zlib.decompressobj(_WINDOW, zdict=_DICTIONARY).decompress(packed[1:]).split(_BETWEEN)
    found = dict(field.split(b"=", 1) for field in fields if field)
    return found | {name: value for name, value in record.items() if not _is_piece(name)}


def _pieces(fields: Mapping[bytes, bytes]) -> Record:
    if any(_BETWEEN in value for value in fields.values()):
        raise ValueError("a field has a control character, so the record is damaged")
    plain = _BETWEEN.join(name + b"=" + value for name, value in sorted(fields.items(), key=_place))
    packer = zlib.compressobj(9, zlib.DEFLATED, _WINDOW, 9, zlib.Z_DEFAULT_STRATEGY, _DICTIONARY)
    packed = _FORMAT + packer.compress(plain) + packer.flush()
    size = _PIECE if len(packed) <= _PIECE * _MAX_PIECES else len(packed)
    starts = range(0, len(packed), size)
    return {b"z%d" % number: packed[start : start + size] for number, start in enumerate(starts)}


def _place(field: tuple[bytes, bytes]) -> int:
    """Order the fields as in the dictionary, so that what lies between two of them is common too."""
    return _DICTIONARY.rfind(b"\x1f" + field[0] + b"=")


def _is_piece(name: bytes) -> bool:
    return name[:1] == b"z" and name[1:].isdigit()
