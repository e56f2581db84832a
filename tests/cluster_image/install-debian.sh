#!/bin/sh
# The Debian packages that build the product's image without Docker and without a registry; run as root, after
# tests/cluster/install-debian.sh.
exec sh "$(dirname "$0")/../cluster/install-debian.sh" buildah debootstrap
