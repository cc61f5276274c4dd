-- Ethiopia's public holidays are computed; a row is one that an operator has added, or an edited computed one. Islamic
-- holidays depend on the moon: until confirmed, they may move by a day.
CREATE TABLE holiday (
  id          text PRIMARY KEY,                    -- hol_…; of computed ones rule and year: hol_TIMKAT2027
  date        date NOT NULL CHECK (date BETWEEN '2020-01-01' AND '2100-12-31'),
  name        text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  name_am     text CHECK (length(name_am) BETWEEN 1 AND 100),
  kind        text NOT NULL CHECK (kind IN ('closed', 'memorial')), -- memorial days are business days
  confirmed   boolean NOT NULL,
  active      boolean NOT NULL DEFAULT true,       -- false: disabled, so a business day
  source      text NOT NULL CHECK (source IN ('computed', 'operator')),
  created_at  timestamptz NOT NULL DEFAULT now(),
  updated_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX holiday_date ON holiday (date);
CREATE UNIQUE INDEX holiday_name_once_a_day ON holiday (date, name) WHERE active;
