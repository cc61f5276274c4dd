-- Adds a mail to each member of a merchant with one of the roles, and to those of_users who are members: facts, which are written in
-- words, in the person's language, when the mail is sent.
CREATE OR REPLACE FUNCTION notify_members(
  of_merchant text, of_environment text, roles text[], of_users text[], facts jsonb
) RETURNS void LANGUAGE sql AS $$
  INSERT INTO mail (id, recipient, language, notice)
  SELECT 'mai_' || upper(substr(translate(CAST(gen_random_uuid() AS text), '-', ''), 1, 26)), u.email, u.language,
         facts || jsonb_build_object('merchantName', m.name, 'environment', of_environment)
  FROM membership s JOIN user_account u ON u.id = s.user_id JOIN merchant m ON m.id = s.merchant_id
  WHERE s.merchant_id = of_merchant AND s.removed_at IS NULL AND (s.role = ANY (roles) OR s.user_id = ANY (of_users))
$$;

-- The same for notices of an amount that are collected: until its mail is due and is being sent, further ones are counted
-- and added up in it. In the order of addresses, so that two transactions do not wait for each other.
CREATE OR REPLACE FUNCTION collect_notice(
  of_merchant text, of_environment text, roles text[], of_users text[], facts jsonb, within interval
) RETURNS void LANGUAGE sql AS $$
  INSERT INTO mail (id, recipient, language, notice, collected_as, due_at)
  SELECT 'mai_' || upper(substr(translate(CAST(gen_random_uuid() AS text), '-', ''), 1, 26)), u.email, u.language,
         facts || jsonb_build_object('merchantName', m.name, 'environment', of_environment, 'count', 1),
         concat_ws(' ', facts ->> 'kind', of_merchant, of_environment), now() + within
  FROM membership s JOIN user_account u ON u.id = s.user_id JOIN merchant m ON m.id = s.merchant_id
  WHERE s.merchant_id = of_merchant AND s.removed_at IS NULL AND (s.role = ANY (roles) OR s.user_id = ANY (of_users))
  ORDER BY u.email
  ON CONFLICT (recipient, collected_as) WHERE sent_at IS NULL AND tries = 0 AND collected_as IS NOT NULL
  DO UPDATE SET notice = mail.notice || jsonb_build_object(
    'count', CAST(mail.notice ->> 'count' AS integer) + 1,
    'amount', CAST(CAST(mail.notice ->> 'amount' AS numeric) + CAST(excluded.notice ->> 'amount' AS numeric) AS text))
$$;
