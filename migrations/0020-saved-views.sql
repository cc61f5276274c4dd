-- Filters of the transaction list that people of a merchant have named.
CREATE TABLE saved_view (
  id           text PRIMARY KEY,                   -- viw_…
  merchant_id  text NOT NULL REFERENCES merchant,
  user_id      text NOT NULL REFERENCES user_account,
  name         text NOT NULL CHECK (length(name) BETWEEN 1 AND 60),
  filter       jsonb NOT NULL,                     -- the parameters of the page's address
  shared       boolean NOT NULL,                   -- every member of the merchant sees it
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX saved_view_name ON saved_view (merchant_id, user_id, lower(name));
