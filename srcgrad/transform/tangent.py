"""Forward mode."""
from dataclasses import dataclass, field
@dataclass
class Tangent:
    program: object
    module: object
    order: list = field(default_factory=list)
