#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ci/as-owner.sh CMD...: if the working directory belongs to the user who called sudo, runs CMD as that user, so that `sudo make bench`
# leaves no files of root behind. Otherwise runs CMD as the current user.
# CMD's stdout goes to stderr, because the stdout of `make bench` carries BMF and nothing else.
set -euo pipefail

(($#)) || { printf 'as-owner: usage: ci/as-owner.sh CMD...\n' >&2; exit 2; }
exec >&2

uid=${SUDO_UID:-} gid=${SUDO_GID:-}
if [[ $EUID != 0 || ! $uid =~ ^[1-9][0-9]*$ || ! $gid =~ ^[0-9]+$ || $(stat -c %u .) != "$uid" ]] ||
	! command -v setpriv >/dev/null; then
	exec "$@"
fi

# setpriv keeps the environment and all file descriptors; sudo would reset the one and close the others.
passwd=$(getent passwd "$uid" || true)
IFS=: read -r user _ _ _ _ home _ <<<"$passwd" || true
if [[ -n $user ]]; then
	as_user=(setpriv --reuid="$uid" --regid="$gid" --init-groups)
else
	as_user=(setpriv --reuid="$uid" --regid="$gid" --clear-groups)
fi

# Gives the user the files that an earlier build as root left in the tree. With -h, chown does not follow a link out of the tree.
out=$(realpath -m -- "${O:-build}")
for path in "$out" "$PWD/bpfbench"; do
	if [[ $path == "$PWD"/* && -e $path ]]; then
		find "$path" -uid 0 -exec chown -h -- "$uid:$gid" {} +
	fi
done

# If the user cannot write to the build folder O, CMD runs as root.
parent=$out
while [[ ! -e $parent ]]; do parent=${parent%/*}; parent=${parent:-/}; done
"${as_user[@]}" test -w "$parent" || exec "$@"

# The jobserver of the outer make may be a pipe or fifo that only root can open. Its address is removed, so that the inner make starts a
# jobserver of its own with the same -jN. The user's variables (V=, O=, CC=), which follow ' -- ', stay.
if [[ -n ${MAKEFLAGS:-} ]]; then
	flags=$MAKEFLAGS vars=''
	if [[ $flags == *' -- '* ]]; then
		vars=" -- ${flags#* -- }"
		flags=${flags%% -- *}
	fi
	kept=''
	for flag in $flags; do
		[[ $flag == --jobserver-* ]] || kept+=" $flag"
	done
	# If the first word has the single-letter flags, without a dash, it must stay first, without a blank before it.
	[[ $flags == ' '* ]] || kept=${kept# }
	export MAKEFLAGS="$kept$vars"
	unset MFLAGS
fi
[[ -z $user ]] || export USER=$user LOGNAME=$user HOME=$home
exec "${as_user[@]}" "$@"
