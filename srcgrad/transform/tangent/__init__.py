"""Forward mode: beside each statement the same statement for tangents.

    y = np.sin(x)            y_dot = x_dot * np.cos(x)
                     ->      y = np.sin(x)

A tangent is bound wherever its variable is, viewed and shared as the variable is, so that control
flow and aliases need nothing of their own.
"""
