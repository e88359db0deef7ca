"""What functions are rewritten into once their types are known (`srcgrad.analysis.sharpen`)."""
