"""Installs both emulators from their lock files, each into a folder of the user's cache."""

import shutil
import subprocess
import venv

from . import AZURITE, CACHE, HERE, MOTO


def main() -> None:
    if not MOTO.exists():
        venv.create(CACHE / "moto", with_pip=True, clear=True)
        pip = [str(CACHE / "moto" / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--require-hashes", "-r", str(HERE / "moto.txt")], check=True)
    if not AZURITE.exists():
        folder = CACHE / "azurite"
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, folder / name)
        subprocess.run(["npm", "ci", "--silent", "--no-fund", "--no-audit"], cwd=folder, check=True)


if __name__ == "__main__":
    main()
