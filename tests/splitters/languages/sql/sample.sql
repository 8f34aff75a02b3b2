-- A pantry. CREATE TABLE fake (id int);
CREATE SCHEMA pantry;

/* One jar. */
CREATE TABLE IF NOT EXISTS pantry.jars (
    id      BIGINT PRIMARY KEY,
    label   TEXT NOT NULL DEFAULT 'CREATE TABLE nothing (',
    grams   NUMERIC(10, 2),
    size    TEXT REFERENCES pantry.sizes (name)
);

CREATE UNIQUE INDEX jars_label ON pantry.jars (label);

CREATE TYPE pantry.size AS ENUM ('small', 'large');

-- Those that hold more than a kilogram.
CREATE OR REPLACE VIEW pantry.heavy AS
SELECT id, label
FROM pantry.jars
WHERE grams > 1000;

CREATE MATERIALIZED VIEW pantry.totals AS
SELECT size, sum(grams) AS grams
FROM pantry.jars
GROUP BY size;

CREATE FUNCTION pantry.add_jar(label TEXT, grams NUMERIC) RETURNS BIGINT
LANGUAGE sql
AS $$
    INSERT INTO pantry.jars (label, grams) VALUES (label, grams) RETURNING id;
$$;

CREATE TRIGGER jars_changed
AFTER INSERT ON pantry.jars
FOR EACH ROW EXECUTE FUNCTION pantry.note();

CREATE SEQUENCE pantry.numbers;

INSERT INTO pantry.jars (id, label, grams)
VALUES (1, 'plum', 500), (2, 'CREATE VIEW nothing AS', 20);

ALTER TABLE pantry.jars ADD COLUMN opened DATE;

SELECT * FROM pantry.jars;
