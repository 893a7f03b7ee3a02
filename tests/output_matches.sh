#!/usr/bin/env bash
# output_matches.sh PATTERN COMMAND...: COMMAND succeeds, and somewhere in what it writes stands PATTERN, an extended
# regular expression. CTest's PASS_REGULAR_EXPRESSION alone would pass a program that fails behind its output.
pattern=$1
shift
output=$("$@" 2>&1)
status=$?
output+=$'\n'
printf '%s' "$output"
[ $status -eq 0 ] || { echo "exit code $status"; exit $status; }
[[ $output =~ $pattern ]] || { echo "without: $pattern"; exit 1; }
