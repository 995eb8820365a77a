"""The command line: options, help and rendering around the command layer."""

import gc

# A run is short and makes hardly any garbage in cycles; looking for it at every 700 objects is a twentieth of its cost.
gc.set_threshold(100_000, 50, 50)
