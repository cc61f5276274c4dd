-- A live key requires one successful payment in the sandbox.
CREATE OR REPLACE FUNCTION has_sandbox_payment(p_merchant_id text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT 1 FROM transaction
    WHERE merchant_id = p_merchant_id AND environment = 'sandbox' AND status = 'SUCCESS')
$$;
