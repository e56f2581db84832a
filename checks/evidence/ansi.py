"""Colours of a terminal as harmless words: each stretch of text with the names of its looks. Nothing else is obeyed."""

import re
from dataclasses import dataclass

# CSI, OSC and the like, two-character escapes; only CSI … m (SGR) means anything here.
_ESCAPE = re.compile(r"\x1b(?:\[([0-?]*)[ -/]*([@-~])|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
MOST_SPANS = 500


@dataclass(frozen=True, slots=True)
class Span:
    """Text with a look: words such as "red bold", from a closed list."""

    text: str
    look: str = ""


class Terminal:
    """What colours are on, from line to line."""

    def __init__(self) -> None:
        self._colour, self._bold = "", False

    def spans(self, line: str) -> list[Span]:
        """One line as stretches of text, without its escapes."""
        found: list[Span] = []
        start = 0
        for escape in _ESCAPE.finditer(line):
            self._add(found, line[start : escape.start()])
            start = escape.end()
            if escape[2] == "m":
                self._obey(escape[1])
        self._add(found, line[start:])
        return found

    def _add(self, found: list[Span], text: str) -> None:
        if not text:
            return
        if len(found) >= MOST_SPANS:  # a line that only changes colours is shown without them
            found[-1] = Span(found[-1].text + text, found[-1].look)
        else:
            found.append(Span(text, " ".join(word for word in (self._colour, "bold" if self._bold else "") if word)))

    def _obey(self, said: str) -> None:
        codes = [int(code) if code.isdigit() and len(code) < 4 else 0 for code in re.split("[;:]", said)]
        while codes:
            code = codes.pop(0)
            if code in (38, 48):  # a colour by number: its parameters mean nothing by themselves
                del codes[: 2 if codes[:1] == [5] else 4]
            elif code == 0:
                self._colour, self._bold = "", False
            elif code in (1, 22):
                self._bold = code == 1
            elif 30 <= code <= 37 or 90 <= code <= 97:
                self._colour = _COLOURS[code % 10]
            elif code == 39:
                self._colour = ""


def plain(line: str) -> str:
    """The line without its escapes."""
    return _ESCAPE.sub("", line)
