def growth(population, rate, capacity):
    return rate * population * (1.0 - population / capacity)


def final_population(population, rate, capacity, steps):
    for _ in range(steps):
        population = population + 0.1 * growth(population, rate, capacity)
    return population


ARGS = (0.4, 1.5, 2.0, 6)
WRT = ("population", "rate", "capacity")
