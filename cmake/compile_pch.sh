#!/bin/sh
# Compiles a precompiled header: compile_pch.sh COMPILER WORD...
# Removes the former one first. While it exists the preprocessor reads it instead of the headers, so a compiler cache takes a header that
# has changed for the former one.
set -eu
previous=
for word; do
  if [ "$previous" = -o ]; then rm -f "$word"; fi
  previous=$word
done
exec "$@"
