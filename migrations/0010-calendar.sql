-- Ethiopia's public holidays. 2023 to 2032 are stored; other years are computed until an operator edits them. Islamic
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

-- Month and day in 2023, 2024 … 2032, by the rules that compute other years; a test compares them. Ids contain the Islamic
-- year of Islamic holidays.
INSERT INTO holiday (id, date, name, name_am, kind, confirmed, source)
SELECT 'hol_' || h.key || h.first_year + d.nth - 1, CAST(2022 + d.nth || '-' || d.day AS date), h.name, h.name_am, h.kind,
       h.confirmed, 'computed'
FROM (VALUES
  ('GENNA', 2023, 'Genna', 'ገና', 'closed', true,
   '01-07 01-07 01-07 01-07 01-07 01-07 01-07 01-07 01-07 01-07'),
  ('TIMKAT', 2023, 'Timkat', 'ጥምቀት', 'closed', true,
   '01-19 01-20 01-19 01-19 01-19 01-20 01-19 01-19 01-19 01-20'),
  ('YEKATIT', 2023, 'Yekatit 12 Martyrs'' Day', 'የካቲት 12 የሰማዕታት ቀን', 'memorial', true,
   '02-19 02-20 02-19 02-19 02-19 02-20 02-19 02-19 02-19 02-20'),
  ('ADWA', 2023, 'Adwa Victory Day', 'የዓድዋ ድል በዓል', 'closed', true,
   '03-02 03-02 03-02 03-02 03-02 03-02 03-02 03-02 03-02 03-02'),
  ('SIKLET', 2023, 'Siklet', 'ስቅለት', 'closed', true,
   '04-14 05-03 04-18 04-10 04-30 04-14 04-06 04-26 04-11 04-30'),
  ('FASIKA', 2023, 'Fasika', 'ፋሲካ', 'closed', true,
   '04-16 05-05 04-20 04-12 05-02 04-16 04-08 04-28 04-13 05-02'),
  ('EIDALFITR', 1444, 'Eid al-Fitr', 'ዒድ አል ፈጥር', 'closed', false,
   '04-21 04-10 03-30 03-20 03-09 02-26 02-14 02-04 01-24 01-14'),
  ('LABOUR', 2023, 'Labour Day', 'የሠራተኞች ቀን', 'closed', true,
   '05-01 05-01 05-01 05-01 05-01 05-01 05-01 05-01 05-01 05-01'),
  ('PATRIOTS', 2023, 'Patriots'' Day', 'የአርበኞች ቀን', 'closed', true,
   '05-05 05-05 05-05 05-05 05-05 05-05 05-05 05-05 05-05 05-05'),
  ('GINBOT', 2023, 'Ginbot 20', 'ግንቦት 20', 'memorial', true,
   '05-28 05-28 05-28 05-28 05-28 05-28 05-28 05-28 05-28 05-28'),
  ('ARAFA', 1444, 'Arafa', 'ዐረፋ', 'closed', false,
   '06-28 06-16 06-06 05-27 05-16 05-05 04-24 04-13 04-02 03-22'),
  ('ENKUTATASH', 2023, 'Enkutatash', 'እንቁጣጣሽ', 'closed', true,
   '09-12 09-11 09-11 09-11 09-12 09-11 09-11 09-11 09-12 09-11'),
  ('MAWLID', 1445, 'Mawlid', 'መውሊድ', 'closed', false,
   '09-27 09-15 09-04 08-25 08-14 08-03 07-24 07-13 07-02 06-20'),
  ('MESKEL', 2023, 'Meskel', 'መስቀል', 'closed', true,
   '09-28 09-27 09-27 09-27 09-28 09-27 09-27 09-27 09-28 09-27'),
  ('HIDAR', 2023, 'Hidar 29 Nations, Nationalities and Peoples'' Day', 'ኅዳር 29 የብሔር ብሔረሰቦችና ሕዝቦች ቀን', 'memorial', true,
   '12-09 12-08 12-08 12-08 12-09 12-08 12-08 12-08 12-09 12-08')
) AS h (key, first_year, name, name_am, kind, confirmed, days),
  string_to_table(h.days, ' ') WITH ORDINALITY AS d (day, nth);
