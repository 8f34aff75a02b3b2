"""The only way out of a sandbox: holds the keys, counts tokens and money, lets through by list.

A `Gateway` serves connections that a relay carries out of a sandbox. Behind it stand doors, tried
in turn: models, package downloads, indexes. What no door takes is refused. asyncio lives only here.
"""
