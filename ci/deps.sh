#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs the packages of ci/packages.txt that a task needs and that are missing, or prints their names: see --help.
# All messages go to stderr, because the stdout of `make bench` carries BMF and nothing else. Only --list and --missing print to stdout.
set -euo pipefail

here=$(cd -- "${BASH_SOURCE[0]%/*}" && pwd)
packages_txt=${BB_PACKAGES:-$here/packages.txt}
os_release=${BB_OS_RELEASE:-/etc/os-release}

usage() {
	cat <<-'EOF'
	Usage: ci/deps.sh [--for TASK] [--list [RELEASE] | --missing | --help]

	Installs what ci/packages.txt lists for building and running bpfbench and this machine lacks (root and apt), or,
	without root or without apt, says what is missing and leaves it to you. Either way it says how many packages that
	brings and how large they are. Silent when nothing is missing.

	  --for TASK        also what a task needs: a kind in ci/packages.txt. `fresh` needs nothing else
	  --list [RELEASE]  print the package names for this release, or for debian-12, debian-13 or ubuntu-24.04
	  --missing         print the names of those that are missing here
	  --help            print this

	Environment: BB_NO_INSTALL=1 only says what is missing, also as root.
	Exit codes: 0 ok (also when something is missing and cannot be installed here), 1 the installation failed, 2 usage.
	EOF
}

say() { printf 'deps: %s\n' "$*" >&2; }

# Reads the rows of packages.txt for $task, without comments and blank lines.
declare -a rows=() releases=()
read_packages() {
	local line first rest kind wanted=" need $task " known=' need '

	[[ $task != fresh ]] || wanted=' fresh '
	[[ -r $packages_txt ]] || { say "cannot read $packages_txt"; exit 1; }
	while IFS= read -r line || [[ -n $line ]]; do
		line=${line%%#*}
		read -r first rest <<<"$line" || true
		case $first in
		'') continue ;;
		releases) read -ra releases <<<"$rest"; continue ;;
		esac
		known+="${first//,/ } "
		for kind in ${first//,/ }; do
			[[ $wanted != *" $kind "* ]] || { rows+=("$line"); break; }
		done
	done <"$packages_txt"
	[[ -z $task || $known == *" $task "* ]] || { say "unknown task '$task'; see the kinds in $packages_txt"; exit 2; }
}

# os_field KEY: prints the value of KEY= in os-release, without quotes. The file is not sourced, because its text is not ours.
os_field() {
	local line

	[[ -r $os_release ]] || return 0
	while IFS= read -r line || [[ -n $line ]]; do
		if [[ $line == "$1="* ]]; then
			line=${line#*=}
			line=${line//[\"\']/}
			printf '%s' "$line"
			return 0
		fi
	done <"$os_release"
}

# Sets $release to the release whose package names apply, and $release_note to a message if this system is not one of the listed ones.
release='' release_note=''
detect_release() {
	local id version like name

	id=$(os_field ID) version=$(os_field VERSION_ID) like=$(os_field ID_LIKE)
	for name in "${releases[@]}"; do
		[[ $name == "$id-$version" ]] && { release=$name; return 0; }
	done
	# Newer or related systems: Debian testing has no VERSION_ID, Ubuntu's derivatives have ID_LIKE="ubuntu debian".
	case " $id $like " in
	*' ubuntu '*) release=ubuntu-24.04 ;;
	' debian '*)
		version=${version%%.*}
		release=debian-12
		[[ $version =~ ^[0-9]+$ ]] && ((10#$version <= 12)) || release=debian-13 ;;
	*) release=debian-12 ;;
	esac
	release_note="this system (${id:-unknown}${version:+ $version}) is not in ci/packages.txt: these are the names on $release"
}

# names_for RELEASE: sets $names to the packages that the release needs, in order, and $probes to their probes.
declare -a names=() probes=()
names_for() {
	local row package probe overrides override name

	names=() probes=()
	for row in "${rows[@]}"; do
		read -r _ package probe overrides <<<"$row"
		name=$package
		for override in $overrides; do
			[[ ${override%%=*} == "$1" ]] && name=${override#*=}
		done
		[[ $name != - ]] || continue
		for name in ${name//,/ }; do
			names+=("$name")
			probes+=("${probe:--}")
		done
	done
}

probe_ok() {
	local what=${1#*:}

	case $1 in
	command:*) command -v "$what" >/dev/null 2>&1 || [[ -x /usr/sbin/$what || -x /sbin/$what ]] ;;
	pkgconf:*'>='*) pkg-config --atleast-version="${what#*>=}" "${what%%>=*}" 2>/dev/null ;;
	pkgconf:*) pkg-config --exists "$what" 2>/dev/null ;;
	header:*) cc -E - <<<"#include <$what>" >/dev/null 2>&1 ;;
	*) true ;;
	esac
}

# Sets $missing to the names that are not installed. A single dpkg-query for all of them keeps `make` fast.
declare -a missing=()
find_missing() {
	local i name status
	local -A installed=()

	missing=()
	if command -v dpkg-query >/dev/null 2>&1; then
		while read -r name status; do
			[[ $status == installed ]] && installed[$name]=1
		done < <(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${names[@]}" 2>/dev/null || true)
		for name in "${names[@]}"; do
			[[ -n ${installed[$name]:-} ]] || missing+=("$name")
		done
	else
		for i in "${!names[@]}"; do
			probe_ok "${probes[$i]}" || missing+=("${names[$i]}")
		done
	fi
}

# Prints the size of $missing according to apt: " (98 packages, 148 MB to download, 654 MB on disk)", or nothing.
size_of_missing() {
	local line size=''

	while IFS= read -r line; do
		[[ ! $line =~ \ ([0-9]+)\ newly\ installed ]] || size="${BASH_REMATCH[1]} packages"
		[[ ! $line =~ ^Need\ to\ get\ ([0-9].*B)\ of\ archives ]] || size+=", ${BASH_REMATCH[1]} to download"
		[[ ! $line =~ ^After\ this\ operation,\ ([0-9].*B)\ of\ additional ]] || size+=", ${BASH_REMATCH[1]} on disk"
	done < <(env LC_ALL=C apt-get -o Debug::NoLocking=1 --assume-no install --no-install-recommends "${missing[@]}" 2>/dev/null </dev/null)
	[[ -z $size ]] || printf ' (%s)' "$size"
}

# Installs $missing; needs root and apt.
install_missing() {
	local -a apt=(env DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=a APT_LISTCHANGES_FRONTEND=none
		apt-get -o DPkg::Lock::Timeout=120 -y -q)

	"${apt[@]}" update >&2 </dev/null || say "apt-get update failed; trying with the package lists that are there"
	say "installing${task:+ for $task}$(size_of_missing): ${missing[*]}"
	if ! "${apt[@]}" install --no-install-recommends "${missing[@]}" >&2 </dev/null; then
		say "apt-get could not install: ${missing[*]} (its messages are above)${release_note:+; $release_note}"
		say "check the network and the apt sources and try again, or go on without them: BB_NO_INSTALL=1 make ..."
		return 1
	fi
	find_missing
	if ((${#missing[@]})); then
		say "apt-get succeeded, but these are still missing: ${missing[*]}"
		return 1
	fi
}

# BB_UID lets the tests try both cases, root and not, whoever runs them.
main_deps() {
	((${#missing[@]})) || return 0
	[[ -z $release_note ]] || say "$release_note"
	if ! command -v apt-get >/dev/null 2>&1; then
		say "missing packages: ${missing[*]}; install them with this system's package manager" \
			"(the names are those of ${release}, libbpf must be 1.0 or newer)"
	elif [[ ${BB_UID:-$EUID} != 0 || -n ${BB_NO_INSTALL:-} ]]; then
		say "missing packages$(size_of_missing): ${missing[*]}; install them with: sudo apt-get install --no-install-recommends ${missing[*]}"
	else
		install_missing
	fi
}

list_release() {
	local name

	for name in "${releases[@]}"; do
		[[ $name != "$1" ]] || { names_for "$1"; printf '%s\n' "${names[@]}"; return 0; }
	done
	say "unknown release '$1'; ci/packages.txt has: ${releases[*]}"
	exit 2
}

task=''
if [[ ${1:-} == --for ]]; then
	(($# > 1)) || { say "--for needs a task; see ci/deps.sh --help"; exit 2; }
	task=$2
	shift 2
fi
read_packages
case ${1:-} in
'') detect_release; names_for "$release"; find_missing; main_deps ;;
--list)
	(($# <= 2)) || { say "--list takes one release at most"; exit 2; }
	[[ -n ${2:-} ]] || { detect_release; [[ -z $release_note ]] || say "$release_note"; }
	list_release "${2:-$release}" ;;
--missing)
	detect_release; names_for "$release"; find_missing
	((${#missing[@]} == 0)) || printf '%s\n' "${missing[@]}" ;;
--help | -h) usage ;;
*) say "unknown option '$1'; see ci/deps.sh --help"; exit 2 ;;
esac
