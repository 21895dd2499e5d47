#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The step "Comment" of action.yml: writes one comment on the pull request if a regression is confirmed. A later run of the same job
# updates the comment, also if the regression is gone. Without a regression so far, and if the gate failed with an error, there is no
# comment. If the token may not comment, as in a pull request from a fork, a notice says so; the verdict and the summary stay.
set -euo pipefail

((GATE_STATUS == 0 || GATE_STATUS == 3)) || exit 0
comments=repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments
marker="<!-- bpfbench gate, job $GITHUB_JOB $GATE_JOB_INDEX -->"

not_commented() {
	echo "::notice title=bpfbench::$1: no comment on the pull request"
	exit 0
}
command -v gh >/dev/null || not_commented "the runner has no gh"

# Anybody can write the marker into a comment, so only comments of bots are taken as ours.
ids=$(gh api --paginate "$comments?per_page=100" \
	--jq ".[] | select(.user.type == \"Bot\" and (.body | startswith(\"$marker\"))) | .id") || not_commented "the comments could not be read"
id=${ids%%$'\n'*}
((GATE_STATUS == 3)) || [[ -n $id ]] || exit 0

# A comment has at most 65536 characters.
{
	printf '%s\n' "$marker"
	((GATE_STATUS == 3)) || printf 'The regression that stood here is not confirmed any more.\n\n'
	head -c 60000 "$GATE_FOLDER/report.md"
	(($(wc -c <"$GATE_FOLDER/report.md") <= 60000)) || printf '\n\n(cut; the summary of the job has the whole report)'
	printf '\n\n[Log, page and figures](%s/%s/actions/runs/%s)\n' "$GITHUB_SERVER_URL" "$GITHUB_REPOSITORY" "$GITHUB_RUN_ID"
} >"$GATE_FOLDER/comment.md"
if [[ -n $id ]]; then
	gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" -F "body=@$GATE_FOLDER/comment.md" ||
		not_commented "the comment could not be updated"
else
	gh api --silent --method POST "$comments" -F "body=@$GATE_FOLDER/comment.md" || not_commented "the token may not comment"
fi
