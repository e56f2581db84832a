"""Many rows with one prepared statement: several times as quick as `bulk_create` and `bulk_update`, which build the
text of a statement for every few rows. Only for plain columns; nothing comes back, so rows have no primary key after.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.db import connection, models

Column = tuple[str, Callable[[Any], Any]]


def insert(model: type[models.Model], rows: Iterable[Any]) -> None:
    """Inserts rows that are not there."""
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    names = ", ".join(_quoted(field) for field in fields)
    places = ", ".join(["%s"] * len(fields))
    statement = f"INSERT INTO {_table(model)} ({names}) VALUES ({places})"  # noqa: S608  (names of our own models)
    _run(statement, [_column(field) for field in fields], rows)


def update(model: type[models.Model], rows: Iterable[Any], columns: Sequence[str]) -> None:
    """Writes these columns of rows that are there."""
    fields = [model._meta.get_field(name) for name in columns]
    names = ", ".join(f"{_quoted(field)} = %s" for field in fields)
    key = model._meta.pk
    statement = f"UPDATE {_table(model)} SET {names} WHERE {_quoted(key)} = %s"  # noqa: S608  (as above)
    _run(statement, [_column(field) for field in (*fields, key)], rows)


def _run(statement: str, columns: list[Column], rows: Iterable[Any]) -> None:
    values = [[prepare(getattr(row, name)) for name, prepare in columns] for row in rows]
    if values:
        with connection.cursor() as cursor:
            cursor.executemany(statement, values)


def _column(field: Any) -> Column:
    if isinstance(field, models.DateTimeField):
        return field.attname, connection.ops.adapt_datetimefield_value
    return field.attname, _as_it_is


def _as_it_is(value: Any) -> Any:
    return value


def _table(model: type[models.Model]) -> str:
    return connection.ops.quote_name(model._meta.db_table)


def _quoted(field: Any) -> str:
    return connection.ops.quote_name(field.column)
