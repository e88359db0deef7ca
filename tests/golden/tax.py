def tax(income, rate):
    if income < 10.0:
        due = 0.0
    elif income < 50.0:
        due = rate * (income - 10.0)
    else:
        due = rate * 40.0 + 2.0 * rate * (income - 50.0)
    return due + 0.01 * income * income


ARGS = (60.0, 0.2)
WRT = ("income", "rate")
