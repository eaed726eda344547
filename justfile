# Recipes of the project; `just` lists them. They expect the environment of the README.
python := ".venv/bin/python"

# Lint, types and the default tests.
default: check test

# Environment, tools and hooks of a fresh clone.
setup:
    python3 -m venv .venv
    {{python}} -m pip install -e ".[dev]"
    .venv/bin/pre-commit install

# Move the notes of `changes/` into the changelog.
changelog version:
    .venv/bin/towncrier build --version {{version}}

# Lint, types and formatting.
check:
    {{python}} -m ruff check .
    {{python}} -m ruff format --check .
    {{python}} -m mypy
    {{python}} docs/check_prose.py
    .venv/bin/codespell
    .venv/bin/proselint --config .proselintrc.json check README.md CHANGELOG.md docs

# The default test run: offline, minutes.
test:
    {{python}} -m pytest

# Tests that measure time: leave the machine idle meanwhile.
test-alone:
    {{python}} -m pytest -n 0 -m alone

# Those that take seconds each too, as CI does.
test-all: test test-alone
    {{python}} -m pytest -m "slow and not long and not alone"

# Those that take minutes.
test-long:
    {{python}} -m pytest -m long

# Property tests on new examples, instead of the fixed ones of the default run.
explore:
    HYPOTHESIS_PROFILE=explore {{python}} -m pytest

# Small random changes to a room, such as decode, and those that its tests miss.
mutants room *options:
    {{python}} tests/mutation/mutate.py {{room}} {{options}}

# Generated pages and the strict build of the site.
docs:
    {{python}} docs/generate_reference.py
    {{python}} -m mkdocs build --strict

# Every page of the site in Chromium, at 400 and 1200 px, light and dark (minutes). Give
# `--out FOLDER` for pictures of the pages, and names of pages for some of them.
site *options:
    {{python}} -m mkdocs build --strict
    cd clients/js && npm ci
    node clients/js/site.mjs site {{options}}

# Numbers of the README, into benchmarks/results.
bench:
    {{python}} -m benchmarks privatize_imdb
    {{python}} -m benchmarks privatize_one_gigabyte
    {{python}} -m benchmarks readme_table

# The page on speed: beside other packages, how it grows, where the time goes (an hour).
speed:
    {{python}} -m benchmarks speed_peers --again
    {{python}} -m benchmarks growth --again
    {{python}} -m benchmarks privatize_imdb
    {{python}} -m benchmarks text_path
    {{python}} -m benchmarks selection
    {{python}} -m benchmarks profile_texts
    {{python}} -m benchmarks speed_page
    {{python}} tests/speed/ratios.py --record

# The papers, measured again (40 minutes), and their page.
papers:
    {{python}} -m pip install -q -e "./experiments[models]"
    {{python}} -m benchmarks reproductions
    {{python}} -m benchmarks reproductions_page

# The embedded default space, from public GloVe vectors.
space vectors:
    .venv/bin/mondegreen space build {{vectors}} --name glove-840b-34k --allow-nbsp \
        -o src/mondegreen/space/data/glove-840b-34k.safetensors --force
