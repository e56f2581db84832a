#!/bin/sh
# The Debian packages that build the product's image without Docker and without a registry; run as root, after
# tests/cluster/install-debian.sh. Tests never install anything.
set -eu
packages="buildah debootstrap"
missing=""
for package in $packages; do
  dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
echo "Installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get -qq -o DPkg::Lock::Timeout=300 update
# shellcheck disable=SC2086  # one word per package
apt-get -qq -o DPkg::Lock::Timeout=300 install --yes --no-install-recommends $missing >/dev/null
