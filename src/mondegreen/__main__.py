"""``python -m mondegreen``: the command line, where its script is not on the path."""

from mondegreen.cli.main import main

if __name__ == "__main__":  # not in the worker processes, which import this file too
    main()
