from sums import add, subtract

assert add(1, 2) == 3
assert subtract(3, 2) == 1
