"""Run the command line as ``python -m nodewise``."""

from nodewise.cli.main import run

if __name__ == "__main__":
    run()
