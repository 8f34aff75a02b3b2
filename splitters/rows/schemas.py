"""Schemas: SQL and Protocol Buffers."""

from splitters.language import Language

ROWS = (
    Language(
        "sql",
        suffixes=(".sql", ".ddl", ".psql", ".pgsql"),
        kinds={
            "create_table": "table",
            "create_view": "view",
            "create_materialized_view": "view",
            "create_index": "index",
            "create_function": "function",
            "create_trigger": "trigger",
            "create_type": "type",
            "create_schema": "schema",
            "create_sequence": "sequence",
            "create_database": "database",
            "create_role": "role",
            "create_extension": "extension",
        },
        names={
            "create_table": "object_reference",
            "create_view": "object_reference",
            "create_materialized_view": "object_reference",
            "create_index": "column",
            "create_function": "object_reference",
            "create_trigger": "object_reference",
            "create_type": "object_reference",
            "create_schema": "identifier",
            "create_sequence": "object_reference",
            "create_database": "identifier",
            "create_role": "identifier",
            "create_extension": "identifier",
        },
        wrappers=frozenset({"statement"}),
        attached=frozenset({"comment", "marginalia"}),
    ),
    Language(
        "proto",
        suffixes=(".proto",),
        aliases=("protobuf",),
        kinds={
            "message": "message",
            "enum": "enum",
            "service": "service",
            "rpc": "rpc",
            "extend": "extension",
        },
        names={
            "message": "message_name",
            "enum": "enum_name",
            "service": "service_name",
            "rpc": "rpc_name",
            "extend": "full_ident",
        },
        attached=frozenset({"comment"}),
    ),
)
