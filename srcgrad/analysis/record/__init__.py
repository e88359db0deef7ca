"""The parts of `srcgrad.analysis.recording`: what the reverse sweep needs and where it is kept."""
