"""The fixed contract `rdma-validation.v1` that came before this one: read into an envelope, and written back.

An import never says more than its source did, and Passed only where nodes were identified and evidence was read. No
Django, no cluster.
"""

from .exporting import Export, export_document
from .importing import Import, Registered, import_document, registered

__all__ = ["Export", "Import", "Registered", "export_document", "import_document", "registered"]
