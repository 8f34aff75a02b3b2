def total(prices):
    result = 0
    for price in prices:
        result += price
    return result


def ask():
    name = input("name? ")
    print(f"{name} pays {total([1, 2])}")


if __name__ == "__main__":
    ask()
