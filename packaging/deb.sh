#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the Debian package that `make deb` is for: what `make install` installs, with the libraries that dpkg-shlibdeps finds
# as dependencies. Needs no root. Environment: O, VERSION (make's), MAINTAINER ("Name <address>"; the last commit's author),
# SOURCE_DATE_EPOCH (the last commit's time), the date of all that is in it.
set -euo pipefail
umask 022

die() { printf 'deb.sh: %s\n' "$1" >&2; exit 1; }
git_says() { git log -1 --format="$1" 2>/dev/null || true; }

for tool in dpkg-deb dpkg-shlibdeps; do
	command -v "$tool" >/dev/null || die "no $tool here; install it: sudo apt-get install dpkg-dev"
done
: "${VERSION:?run make deb}"
O=${O:-build}
out=$(realpath -m -- "$O")
maintainer=${MAINTAINER:-$(git_says '%an <%ae>')}
[[ $maintainer == *' <'*@*'>' ]] || die 'say who maintains the package: make deb MAINTAINER="Name <address>"'
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git_says %ct)}
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(date +%s)}
arch=$(dpkg --print-architecture)
work=$out/deb root=$out/deb/root
package=$out/bpfbench_${VERSION}_$arch.deb

rm -rf -- "$work"
mkdir -p -- "$root/DEBIAN" "$work/debian"
trap 'rm -rf -- "$work"' EXIT
make --no-print-directory install O="$O" DESTDIR="$root" PREFIX=/usr

strip --strip-unneeded --remove-section=.comment --remove-section=.note "$root"/usr/bin/* "$root"/usr/lib/bpfbench/workloads/*
[[ ! -d $root/usr/lib/bpfbench/qemu ]] || strip --strip-unneeded "$root"/usr/lib/bpfbench/qemu/*
doc=$root/usr/share/doc/bpfbench
install -m 644 packaging/copyright "$doc/copyright"
install -D -m 644 packaging/lintian-overrides "$root/usr/share/lintian/overrides/bpfbench"
packaging/man.sh "$root/usr/bin/bpfbench" >"$root/usr/share/man/man1/bpfbench.1"	# dated as the rest
gzip -9n "$root/usr/share/man/man1/bpfbench.1"
printf 'bpfbench (%s) unstable; urgency=medium\n\n  * The history is in git.\n\n -- %s  %s\n' "$VERSION" "$maintainer" \
	"$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$doc/changelog.gz"

# dpkg-shlibdeps wants a source package around it.
printf 'Source: bpfbench\n\nPackage: bpfbench\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd -- "$work" && dpkg-shlibdeps -O root/usr/bin/bpfbench root/usr/lib/bpfbench/workloads/*)
cat >"$root/DEBIAN/control" <<EOT
Package: bpfbench
Version: $VERSION
Architecture: $arch
Maintainer: $maintainer
Section: devel
Priority: optional
Depends: ${depends#shlibs:Depends=}
Suggests: git, gnuplot-nox, valgrind
Installed-Size: $(du -k -s --apparent-size --exclude=DEBIAN "$root" | cut -f 1)
Description: benchmarks eBPF programs
 What one invocation of an eBPF program costs, with an interval, and whether a
 change made it slower, with a verdict that may be "inconclusive": on shared
 machines and virtual ones without a PMU, too. Prints Bencher Metric Format.
EOT
(cd -- "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
printf '%s\n' "$package"
