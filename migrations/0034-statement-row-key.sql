-- Listed twice under one reference with two amounts, an order has two rows.
ALTER TABLE statement_row
  DROP CONSTRAINT statement_row_pkey,
  ADD CONSTRAINT statement_row_pkey PRIMARY KEY USING INDEX statement_row_listed;
