"""What must never be published, wherever it stands: text that looks like a credential.

Ordinary words about secrets are no credentials ("token ring", `secretName`, "unexpected token: identifier"); a name
with a value behind it is one.
"""

import re

# Each begins with literal text, which is what makes looking for it quick.
_CREDENTIALS = tuple(
    re.compile(pattern)
    for pattern in (
        r"AKIA[0-9A-Z]{16}",
        r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY",
        r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.",
        r"gh[pousr]_[A-Za-z0-9]{30,}",
        r"github_pat_[A-Za-z0-9_]{20,}",
        r"xox[abprs]-[A-Za-z0-9-]{10,}",
        r"earer [A-Za-z0-9._~+/-]{20,}",
        r"AccountKey=",
        r"SharedAccessSignature",
        r"sig=[A-Za-z0-9%/+]{10,}",
        r"://[^\s/@:]{1,64}:[^\s/@]{1,256}@",
    )
)
_SECRET_WORDS = ("password", "passwd", "secret", "token", "apikey", "api_key", "accesskey", "access_key")
_SECRET_VALUE = re.compile(
    r"(?<![A-Za-z])(?:(?:password|passwd|api_?key|access_?key)\s{0,3}[=:]"
    r"|(?:secret|token)\s{0,3}(?:=|:(?=\s{0,3}[^\s\"',;]{0,64}[0-9])))\s{0,3}[^\s\"',;]{6,}",
    re.IGNORECASE,
)


def may_hold_credential(text: str) -> bool:
    """Whether a text has something that looks like a credential."""
    if any(pattern.search(text) for pattern in _CREDENTIALS):
        return True
    lowered = text.lower()
    return any(word in lowered for word in _SECRET_WORDS) and _SECRET_VALUE.search(text) is not None
