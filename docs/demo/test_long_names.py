"""Names with more than two parts (sqlparse issue 332, fixed upstream in 0.6.0)."""

import pytest

import sqlparse


def identifier(sql):
    return sqlparse.parse(sql)[0].tokens[0]


@pytest.mark.parametrize(('sql', 'name'), [
    ('a', 'a'),
    ('a.b', 'b'),
    ('a.b.c', 'c'),
    ('db.schema.tbl.col', 'col'),
    ('db.schema.func(1)', 'func'),
    ('"x"."y"."z"', 'z'),
])
def test_the_real_name_is_the_last_part(sql, name):
    assert identifier(sql).get_real_name() == name


def test_the_parent_name_is_the_first_part():
    assert identifier('db.schema.tbl.col').get_parent_name() == 'db'


def test_an_alias_does_not_hide_the_real_name():
    found = identifier('x.y.z AS w')
    assert (found.get_real_name(), found.get_alias()) == ('z', 'w')
