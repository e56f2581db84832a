"""What every page is told besides its own context."""

from django.conf import settings
from django.http import HttpRequest

import checks


def site(request: HttpRequest) -> dict[str, object]:
    """`sample_data`: the page must say that nothing on it is real; `version`: of the portal."""
    return {"sample_data": settings.SAMPLE_DATA, "version": checks.__version__}
