"""What every other folder stands on: errors, randomness, settings, progress, run folders."""
