"""What is said to somebody who mistypes a command: the words of the parser of options, made plain."""

from __future__ import annotations

import errno
import os
import re
import sys
from pathlib import Path
from typing import Any

from ssvi.file_kinds import MODEL, close_name, kind_of

_PLAIN = (
    (r"^Invalid value for '(-[\w-]+)'[^:]*: ", r"\1: "),
    (r"Input should be a valid integer\b.*", "this is no whole number."),
    (r"Input should be a valid number\b.*", "this is no number."),
    (r"Input should be greater than or equal to (\S+?)\.?$", r"it must be \1 or more."),
    (r"Input should be less than or equal to (\S+?)\.?$", r"it must be \1 or less."),
    (r"^Missing option '(-[\w-]+)' / '(-\w)'", r"\1 (\2) is missing"),
    (r"^Missing option '(-[\w-]+)'", r"\1 is missing"),
    (r"^Missing argument '([\w ]+)'", r"the \1 is missing"),
    (r"^Got unexpected extra arguments?(?:\(s\))? \((.*)\)", r"this is more than the command takes: \1"),
    (r"^No such option: (\S+?)\.?(?: \(Possible options: (.*)\))?\.?$", r"there is no option \1 (\2)"),
    (r"^Option '(-[\w-]+)' requires an argument", r"\1 has nothing behind it: give its value"),
    (r"^No such command '(.*?)'", r"there is no command '\1'"),
)
_ELSEWHERE = {  # what options are called in other tools
    **dict.fromkeys(("--iterations", "--iter", "--max-iter", "--n-iter", "--epochs", "--sweeps"), "--passes"),
    **dict.fromkeys(("--workers", "--threads", "--n-jobs", "--cores"), "--jobs"),
    **dict.fromkeys(("--random-state", "--random-seed"), "--seed"),
    **dict.fromkeys(("--num-topics", "--n-components", "--clusters"), "--topics"),
}
_CORPUS_COMES_AS = {"ssvi report": "--corpus"}  # commands that have an option where others have an argument


def of_options(error: Any) -> str:
    """Return a sentence for what the parser of options found wrong."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else _typed()
    if context and getattr(getattr(error, "param", None), "name", None) == "source":
        return _nothing_to_read(command, context.params.get("model"))
    nearest = getattr(error, "possibilities", None)
    if nearest:  # which are in the order of their likeness, and told in that of the alphabet
        error.possibilities = nearest[:1]
    said = error.format_message()
    sentence = said
    for pattern, plain in _PLAIN:
        sentence = re.sub(pattern, plain, sentence, flags=re.DOTALL)
    sentence = re.sub(r" \(\)$", "", re.sub(r"\(((?:--[\w-]+(?:, )?)+)\)$", r"(did you mean \1?)", sentence))
    unknown = re.match(r"there is no option (\S+)", sentence)
    meant = _ELSEWHERE.get(unknown[1]) if unknown else None
    if context and unknown and meant in {name for own in context.command.params for name in own.opts}:
        sentence = f"{unknown[0]} (did you mean {meant}?)"
    end = "" if sentence.endswith((".", "?")) else "."
    option = _CORPUS_COMES_AS.get(command) if "extra argument" in said else None
    hint = f" Documents are given as {option} FILE." if option else ""
    if command == "ssvi transform" and sentence.startswith("--output (-o) is missing"):
        hint = " -o weights.csv writes a table, and -o - prints it."
    return f"{sentence}{end}{hint} See {command} --help."


def _typed() -> str:
    """Return the command that was typed, as far as that is known to be one."""
    return " ".join(["ssvi", *(word for word in sys.argv[1:2] if re.fullmatch(r"[a-z]+", word))])


def refuse_swapped(command: str, model: Any, data: Any) -> None:
    """Raise if a model was given where data goes, and data where the model goes."""
    first = data[0] if isinstance(data, list) and data else None
    if not isinstance(model, Path) or not isinstance(first, Path) or not model.exists():
        return
    if kind_of(first) is MODEL and kind_of(model) is not MODEL:
        raise ValueError(
            f"{model} is not a saved model, and {first} is one: the two are swapped, and the model comes first, as in "
            f"ssvi {command} {first} {model} ..."
        )


def model_comes_first(command: str, data: str) -> str:
    """Return what to say to somebody who gave data where the name of a model goes."""
    return f"{data} is something to read, and the name of a model comes first: {command} lda {data} ..."


def of_files(error: OSError) -> str:
    """Return a sentence for what the system says of a file."""
    name = error.filename
    if name is None or error.strerror is None:
        return str(error)
    if error.errno == errno.ENOENT:
        return f"there is no file {name}{close_name(Path(os.fsdecode(name)))}: check the path."
    if error.errno == errno.EISDIR:
        return f"{name} is a folder, and a file is wanted."
    if error.errno == errno.EACCES:
        return f"{name} is not yours to read or write: change its permissions, or give another."
    return f"{name}: {error.strerror}."


def _nothing_to_read(command: str, first: Any) -> str:
    """Return what to say of a command without anything to read; its first argument may be just that."""
    if isinstance(first, str) and (os.path.exists(first) or re.search(r"[./*?\\]", first)):
        return model_comes_first(command, first)
    example = f"{command} {first or 'lda'} articles.jsonl ..."
    return f"there is nothing to read: give files or folders, as in {example} See {command} --help."
