"""``python -m msg``: the ``msg`` program of this package."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path


def program() -> Path | None:
    """The program that was installed with this package, in the places where installers put programs."""
    name = "msg" + (sysconfig.get_config_var("EXE") or "")
    here = Path(__file__).resolve().parent
    schemes = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")]
    # `pip install --target DIR` puts it in DIR/bin, and an isolated build beside the packages.
    places = [*map(Path, schemes), here.parent / "bin", *(it / "bin" for it in here.parents[2:5])]
    return next((place / name for place in places if (place / name).is_file()), None)


def main() -> int:
    found = program()
    if found is None:
        print("msg: this build of the package has no program; install a wheel, or `cargo install msg-cli`", file=sys.stderr)
        return 2
    command = [os.fspath(found), *sys.argv[1:]]
    if sys.platform == "win32":
        return subprocess.run(command, check=False).returncode
    os.execv(found, command)


if __name__ == "__main__":
    sys.exit(main())
