"""The command line: options, help and rendering around the command layer."""
