"""Keycloak for tests of sign-in: its distribution from Maven, built for its database, with `realm.json` imported.

What takes long (fetching, building, creating the database) is done once into the cache of tools; a test bed copies
the database and starts the rest from there.
"""

import hashlib
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

from tests.cluster.tools import ToolMissing, build_once, cache_root

VERSION = "26.7.3"
ARCHIVE_SHA256 = "77657f30b7e90d70f727712ce1c967f430fd6a5e9f458d32d8c6df0635345f47"
ARTIFACT = f"org.keycloak:keycloak-quarkus-dist:{VERSION}:tar.gz"
FETCH = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
REALM = Path(__file__).parent / "realm.json"
ADMIN_CLIENT = "bed-admin"
ADMIN_SECRET = "bed-admin-secret"
SHARED = ("lib", "conf", "providers", "themes")
JVM = (
    *("-Xms64m", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
    "-Djava.util.logging.manager=org.jboss.logmanager.LogManager",
    "-Djava.util.concurrent.ForkJoinPool.common.threadFactory="
    "io.quarkus.bootstrap.forkjoin.QuarkusForkJoinWorkerThreadFactory",
    *(f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("util", "util.concurrent", "security", "lang")),
)


def command(home: Path, *words: str) -> list[str]:
    """Keycloak with its home in this folder; its own script would put a shell between us and the server."""
    places = (f"-Dkc.home.dir={home}", f"-Djboss.server.config.dir={home / 'conf'}")
    starter = ("-cp", str(home / "lib" / "quarkus-run.jar"), "io.quarkus.bootstrap.runner.QuarkusEntryPoint")
    return ["java", *JVM, *places, *starter, *words]


def distribution() -> Path:
    """The built distribution; raises ToolMissing where it, or Java, is not there."""
    if not shutil.which("java"):
        raise ToolMissing("Java is missing: run tests/cluster/install-debian.sh (openjdk-17-jre-headless).")
    if not _target().is_dir():
        raise ToolMissing("Keycloak is not built: run `make cluster-tools` (family keycloak).")
    return _target()


def build(say: Callable[[str], None] = print) -> Path:
    """Fetch, check, build and import, unless that was done before; answers the folder."""
    return build_once("keycloak", _target(), lambda work: _make(work, say), say)


def _make(work: Path, say: Callable[[str], None]) -> None:
    for program, package in (("mvn", "maven"), ("java", "openjdk-17-jre-headless")):
        if not shutil.which(program):
            raise ToolMissing(f"{program} is missing: run tests/cluster/install-debian.sh ({package}).")
    say(f"keycloak: fetching {ARTIFACT} …")
    _run("mvn", "--quiet", "--batch-mode", FETCH, f"-Dartifact={ARTIFACT}", f"-DoutputDirectory={work}")
    archive = next(work.glob("*.tar.gz"))
    if hashlib.sha256(archive.read_bytes()).hexdigest() != ARCHIVE_SHA256:
        raise ToolMissing(f"{archive.name} is not the archive that was pinned: its SHA-256 differs.")
    with tarfile.open(archive) as packed:
        packed.extractall(work, filter="data")
    archive.unlink()
    unpacked = next(work.glob("keycloak-*"))
    for part in unpacked.iterdir():
        part.rename(work / part.name)
    unpacked.rmdir()
    say("keycloak: building and importing the realm …")
    _run(*command(work, "build", "--db=dev-file"))
    _run(*command(work, "import", "--optimized", "--cache=local", f"--file={REALM}"))


def _run(*words: str) -> None:
    admin = {"KC_BOOTSTRAP_ADMIN_CLIENT_ID": ADMIN_CLIENT, "KC_BOOTSTRAP_ADMIN_CLIENT_SECRET": ADMIN_SECRET}
    subprocess.run(words, env={**os.environ, **admin}, check=True, stdout=subprocess.DEVNULL)


def _target() -> Path:
    key = hashlib.sha256(f"{VERSION} {ARCHIVE_SHA256} {JVM}".encode() + REALM.read_bytes()).hexdigest()
    return cache_root() / f"keycloak-{key[:16]}"
