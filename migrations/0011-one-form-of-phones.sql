-- A customer's phone is stored in one form, as attempts store theirs: digits from the country's code on.
UPDATE transaction
SET customer_phone = CASE
  WHEN customer_phone ~ '^(\+251|251|0|)[79][0-9]{8}$' THEN '251' || right(customer_phone, 9)
  ELSE ltrim(customer_phone, '+')
END
WHERE customer_phone !~ '^251[79][0-9]{8}$';

-- Which transactions were paid, or tried, from this phone?
CREATE INDEX payment_attempt_phone ON payment_attempt (merchant_id, environment, phone);
