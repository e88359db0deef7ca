"""The parts of type inference (`srcgrad.analysis.infer`): each knows one kind of thing."""
