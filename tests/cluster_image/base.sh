#!/bin/sh
# Makes a root file system that stands in for python:3.*-slim-bookworm where no registry can be reached: Debian's own
# Python, with `python` and `pip` in /usr/local/bin as that image has them. Usage, as root: base.sh NEW_FOLDER
set -eu
root=$1
debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates bookworm "$root" >&2
# An environment in /usr/local: its pip can be uninstalled, which Debian's own cannot.
chroot "$root" /usr/bin/python3 -m venv /usr/local
chroot "$root" /usr/local/bin/python -c 'import sqlite3, ssl, venv'
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/* "$root"/var/log/* "$root"/usr/share/doc "$root"/usr/share/man \
  "$root"/usr/share/locale "$root"/tmp/*
