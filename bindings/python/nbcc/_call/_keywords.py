"""The keywords of a call, which are fields of its pipeline or options. Entry point: `split`. A name that a field has is the
field's; an option of that name is given as `options={"tolerance": ...}`."""

from __future__ import annotations

from typing import AbstractSet, Any, Collection, Dict, Mapping, Optional, Tuple

# The keyword of a dict of options.
OPTIONS_KEYWORD = "options"

COMPILE_OPTIONS = frozenset(
    ("device", "precision", "math", "root", "threads", "isa", "cache_dir", "pairs", "skin", "symmetric")
)


def split(
    name: str, keywords: Mapping[str, Any], options: AbstractSet[str], fields: Collection[str]
) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """(fields, options) of keywords. name: of the function, for errors. options: the names of all options. fields: those of
    the pipeline's inputs and params. Raises TypeError."""
    of_fields: Dict[str, Any] = {}
    of_options: Dict[str, Any] = {}
    more: Any = None
    for key, value in keywords.items():
        if key in fields:
            of_fields[key] = value
        elif key in options:
            of_options[key] = value
        elif key == OPTIONS_KEYWORD:
            more = value
        else:
            of_fields[key] = value  # refused with the names that there are
    if more is None:
        return of_fields, of_options
    if not isinstance(more, Mapping):
        raise TypeError(f"{name}(): options: expected a dict of options by name, got {type(more).__name__}")
    for key, value in more.items():
        if key not in options:
            raise TypeError(f"{name}(): options: there is no option {key!r}; options are {', '.join(sorted(options))}")
        if key in of_options:
            raise TypeError(f"{name}(): got option {key!r} twice, by itself and in options=")
        of_options[key] = value
    return of_fields, of_options


def warning_of_names(filename: str, options: AbstractSet[str], fields: Collection[str]) -> Optional[str]:
    """What `compile` says of fields with the names of options of calls; None if there are none."""
    names = [name for name in fields if name in options]
    if not names:
        return None
    listed = ", ".join(f"'{name}'" for name in names)
    is_one = len(names) == 1
    return (
        f"{filename}: {'field' if is_one else 'fields'} {listed} {'has' if is_one else 'have'} the name of an option of "
        f"calls: {names[0]}=... sets the field; to set the option, write options={{\"{names[0]}\": ...}}"
    )
