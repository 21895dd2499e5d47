#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fetch-kernel.sh KERNEL FOLDER [FILE.deb]: makes or replaces FOLDER with Debian's newest KERNEL (vmlinuz) and the modules that guests need (lib). They
# come from FILE.deb, or from apt, which checks the signatures. apt uses package lists of our own, so this needs no root and works on
# other releases and on Ubuntu. The program bpfbench contains this file, and `bpfbench vm fetch` runs it.
# Exit codes: 0, or 4 with the reason as the last line of stderr.
set -euo pipefail

kernel=$1 folder=$2 deb=${3:-}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
scratch=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf -- "$scratch"' EXIT

say() { printf 'fetch-kernel: %s: %s\n' "$kernel" "$*" >&2; }
cannot() { say "$@"; exit 4; }
trap 'cannot "fetching it was broken off, by a signal or because the time was over: no network?"' INT TERM

suite_of() {
	case $1 in
	5.10) echo bullseye ;;
	6.1) echo bookworm ;;
	6.12) echo trixie ;;
	*) echo trixie-backports ;;
	esac
}

# Prints a configuration of apt that takes only the settings for downloads (proxies) from the machine's.
apt_conf() {
	apt-config dump Acquire | grep -v '::IndexTargets::'
	cat <<-EOT
	Dir::State "$scratch/apt";
	Dir::State::status "$scratch/apt/status";
	Dir::Cache "$scratch/apt";
	Dir::Etc::sourcelist "$scratch/apt/sources.list";
	Dir::Etc::sourceparts "/dev/null";
	Dir::Etc::parts "/dev/null";
	Dir::Etc::preferencesparts "/dev/null";
	APT::Architecture "amd64";
	APT::Architectures { "amd64"; };
	APT::Sandbox::User "root";
	APT::Update::Error-Mode "any";
	Acquire::Languages "none";
	Acquire::Retries "2";
	Acquire::http::Timeout "20";
	EOT
}

# update_lists SUITE: loads the package lists. A suite moves to the second mirror some time after its support has ended.
update_lists() {
	local mirror

	for mirror in http://deb.debian.org/debian http://archive.debian.org/debian; do
		echo "deb [signed-by=$keyring] $mirror $1 main" >"$scratch/apt/sources.list"
		! apt-get -qq update >&2 || return 0
	done
	return 1
}

# Downloads the package into the current folder.
download() {
	local suite package name=linux-image-$kernel.

	suite=$(suite_of "$kernel")
	say "fetching the newest one of Debian's $suite"
	command -v apt-get >/dev/null || cannot "there is no apt-get here; give the package: bpfbench vm fetch $kernel --from FILE.deb"
	[[ -r $keyring ]] || cannot "no $keyring here: install debian-archive-keyring, or --from FILE.deb"
	mkdir -p "$scratch"/apt/{lists,archives}/partial
	: >"$scratch/apt/status"
	apt_conf >"$scratch/apt/conf"
	export APT_CONFIG=$scratch/apt/conf
	update_lists "$suite" || cannot "no package lists of Debian's $suite: no network? (--from FILE.deb takes a $name*-amd64 package)"
	package=$(apt-cache pkgnames "$name" |
		grep -E "^linux-image-${kernel//./\\.}\.[0-9a-z.+]+(-[0-9]+)?-amd64$" | sort -V | tail -n 1) ||
		cannot "Debian's $suite has no such kernel"
	apt-get -qq download "$package" >&2 || cannot "cannot download $package (apt's words are above)"
}

mkdir -p "$scratch/tree"
[[ -z $deb ]] || deb=$(realpath -e -- "$deb") || cannot "there is no package $deb"
cd -- "$scratch/tree"
[[ $deb ]] || { download && deb=$(ls -- *.deb); }
dpkg-deb --fsys-tarfile "$deb" | tar -x --wildcards './boot/vmlinuz-*' '*/kernel/drivers/net/veth.*' \
	'*/kernel/drivers/block/loop.*' '*/kernel/net/sched/sch_ingress.*' '*/kernel/net/sched/cls_bpf.*' ||
	cannot "$deb is no package of a kernel, or there is no space"
mv boot/vmlinuz-* vmlinuz
[[ ! -d usr/lib ]] || mv usr/lib lib
unxz=(busybox unxz)
! command -v unxz >/dev/null || unxz=(unxz)
find lib -name '*.xz' -exec "${unxz[@]}" {} + || cannot "the modules cannot be unpacked: install xz-utils"
rm -rf boot usr ./*.deb
rm -rf -- "$folder"
mv -T -- "$scratch/tree" "$folder"
