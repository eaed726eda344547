#!/bin/sh
# Privatize on the device: an artifact for the client in JavaScript, and the same release
# by both. Run it in this folder; it needs Node, and writes to a folder of its own.
set -eu
client=$(cd "$(dirname "$0")/../clients/js" && pwd)
cd "$(mktemp -d)"

digest=$(mondegreen policy export --device -o sensitive.mdg --epsilon 12 --epsilon 10 --json |
    sed -n 's/.*"digest": "\([0-9a-f]*\)".*/\1/p')
(umask 077; head -c 32 /dev/urandom > release.key)
printf '%s\n' '{"id": 1, "text": "My doctor in Oslo was kind."}' \
              '{"id": 2, "text": "I did not like the hotel."}' > notes.jsonl

node "$client/cli.mjs" sensitive.mdg --epsilon 12 --digest "$digest" --key-file release.key \
    < notes.jsonl > device.jsonl
mondegreen privatize notes.jsonl -o here.jsonl --epsilon 12 \
    --key-file release.key --id id --quiet
cmp device.jsonl here.jsonl
cat device.jsonl
