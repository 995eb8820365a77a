"""The command layer: typed arguments in, a frozen dataclass out; it never prints, prompts or reads the environment."""
