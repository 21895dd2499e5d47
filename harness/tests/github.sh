# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A minimal runner of GitHub Actions for action.yml: run_action runs its steps unchanged, each in a process of its own, with GitHub's
# files and a fake `gh` that keeps the comments of a pull request in a folder, one file each.

# make_runner DIR: makes a runner and puts DIR/bin in front of PATH. The `sudo` there is for tests without root.
make_runner() {
	runner=$1
	mkdir -p "$runner/bin" "$runner/temp" "$runner/comments"
	cat >"$runner/bin/gh" <<-'EOF'
	#!/usr/bin/env bash
	# gh api ... PATH: the user of a comment is in its first line.
	printf '%s\n' "$*" >>"$FAKE_COMMENTS/../gh.log"
	[[ -z ${FAKE_REFUSES:-} || " $* " != *" --method "* ]] || { echo 'gh: Resource not accessible by integration (HTTP 403)' >&2; exit 1; }
	[[ -n ${GH_TOKEN:-} ]] || exit 4
	method=GET body=
	while (($#)); do
		case $1 in
		--method) method=$2; shift ;;
		--jq) filter=$2; shift ;;
		-F) body=${2#body=@}; shift ;;
		repos/*) path=$1 ;;
		esac
		shift
	done
	case $method:$path in
	GET:repos/me/it/issues/7/comments*)
		for file in "$FAKE_COMMENTS"/*; do
			[[ -e $file ]] || continue
			jq -Rs --argjson id "$(basename "$file")" 'split("\n") | {id: $id, user: {type: .[0]}, body: (.[1:] | join("\n"))}' "$file"
		done | jq -s . | jq -r "$filter" ;;
	POST:repos/me/it/issues/7/comments) { echo Bot; cat "$body"; } >"$FAKE_COMMENTS/$(($(find "$FAKE_COMMENTS" -type f | wc -l) + 1))" ;;
	PATCH:repos/me/it/issues/comments/*) { echo Bot; cat "$body"; } >"$FAKE_COMMENTS/${path##*/}" ;;
	*) echo "gh: $method $path: Not Found (HTTP 404)" >&2; exit 1 ;;
	esac
	EOF
	printf '#!/bin/sh\nexec "$@"\n' >"$runner/bin/sudo"
	chmod +x "$runner/bin"/*
}

# Prints a line for each step: name, id, if, run, uses, and the entries of `env` or `with`, as `key=value`, with the unit separator between
# them.
steps_of() {
	awk '
	/^runs:/ { inside = 1 }
	!inside { next }
	/^    - / { if (line != "") print line; line = ""; sub(/^    - /, "      ") }
	/^      [a-z]+: / { key = $1; value = $0; sub(/^ *[a-z]+: /, "", value); line = line key "=" value "\037"; next }
	/^        [A-Za-z_]+: / { key = $1; value = $0; sub(/^ *[A-Za-z_]+: /, "", value); line = line "." key "=" value "\037" }
	END { print line }' "$1" | sed 's/:=/=/g'
}

# value_of EXPRESSION: prints the value of an expression, which is given without ${{ }}. An unknown one ends the test.
value_of() {
	local name=${1##*.}

	case $1 in
	inputs.*)
		if [[ -v given[$name] ]]; then
			printf '%s' "${given[$name]}"
		else
			value_of "$(awk -v name="  $name:" '$0 == name { inside = 1; next } /^  [a-z]/ { inside = 0 }
				inside && sub(/^    default: /, "") { gsub(/^\$\{\{ | \}\}$|\047/, ""); print }' action.yml)"
		fi ;;
	steps.gate.outputs.*) sed -n "s/^$name=//p" "$runner/output" ;;
	github.event.pull_request.number) printf 7 ;;
	github.event.pull_request) printf object ;;
	github.event.pull_request.base.sha) printf '%s' "$base_sha" ;;
	github.token) printf a-token ;;
	github.job) printf bpf ;;
	strategy.job-index) printf 0 ;;
	true | false | regressed | '') printf '%s' "$1" ;;
	*) echo "# unknown expression: $1" >&2; exit 1 ;;
	esac
}

# filled TEXT: prints the text with values in place of its expressions.
filled() {
	local text=$1 before expression

	while [[ $text == *'${{ '* ]]; do
		before=${text%%'${{ '*}
		expression=${text#*'${{ '}
		text=$before$(value_of "${expression%%' }}'*}")${expression#*' }}'}
	done
	printf '%s' "$text"
}

# holds CONDITION FAILED: true if a step with this condition runs. FAILED is not 0 if an earlier step failed.
holds() {
	local term text=${1#'${{ '}

	text=${text%' }}'}
	[[ $text == *'!cancelled()'* || $2 == 0 ]] || return 1
	while IFS= read -r term; do
		case $term in
		'' | '!cancelled()') ;;
		*" == '"*) [[ $(value_of "${term%% == *}") == "$(cut -d"'" -f2 <<<"$term")" ]] || return 1 ;;
		*) [[ -n $(value_of "$term") ]] || return 1 ;;
		esac
	done <<<"${text// && /$'\n'}"
}

# run_action DIR BASE INPUT=VALUE...: runs the action in the checkout DIR, and sets $status and the files as `run` does. Each upload is a
# line "NAME PATH" in $runner/uploads.
run_action() {
	local dir=$1 line pair key failed=0 rc
	local -A given=() step
	local -a words env

	base_sha=$2
	: >"$runner/output"
	: >"$runner/summary"
	: >"$runner/uploads"
	: >"$TMP/out"
	: >"$TMP/err"
	for pair in "${@:3}"; do given[${pair%%=*}]=${pair#*=}; done
	while IFS= read -r line; do
		step=() env=()
		IFS=$'\037' read -ra words <<<"$line"
		for pair in "${words[@]}"; do
			key=${pair%%=*}
			if [[ $key == .* ]]; then env+=("${key#.}=$(filled "${pair#*=}")"); else step[$key]=${pair#*=}; fi
		done
		holds "${step[if]:-}" "$failed" || continue
		if [[ ${step[uses]:-} == actions/upload-artifact@* ]]; then
			printf '%s\n' "${env[*]}" >>"$runner/uploads"
			continue
		fi
		rc=0
		key=${step[run]#"'"}
		env -C "$dir" "${env[@]}" PATH="$runner/bin:$PATH" FAKE_COMMENTS="$runner/comments" RUNNER_TEMP="$runner/temp" \
			GITHUB_OUTPUT="$runner/output" GITHUB_STEP_SUMMARY="$runner/summary" GITHUB_ACTION_PATH="$ROOT" GITHUB_REPOSITORY=me/it \
			GITHUB_SERVER_URL=https://github.example GITHUB_RUN_ID=42 GITHUB_JOB=bpf BB_NO_INSTALL=1 \
			bash --noprofile --norc -eo pipefail -c "${key%"'"}" </dev/null >>"$TMP/out" 2>>"$TMP/err" || rc=$?
		((failed)) || failed=$rc
	done < <(steps_of action.yml)
	# shellcheck disable=SC2034 # expect_status reads it
	status=$failed tap_command="action.yml ${*:3}"
}
