"""The entry of the command, which answers Ctrl-C before it loads anything large."""

from mondegreen.cli.interrupts import exit_at_an_interrupt


def main() -> None:
    """Run the command line and exit."""
    exit_at_an_interrupt()
    from mondegreen.cli.main import main as run

    run()


if __name__ == "__main__":  # not in the worker processes, which import this file too
    main()
