"""One memory for all your coding agents: Markdown facts in git repositories."""

__version__ = "0.1.0"
